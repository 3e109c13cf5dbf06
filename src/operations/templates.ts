import { finance } from '../core/policy/templates/finance.ts';
import { policyPacks } from '../core/policy/templates/index.ts';
import { Type } from '../core/schema.ts';
import { NO_PLUGINS, type PluginsInUse } from '../runtime/plugins/types.ts';
import { defineOperation, Refusal } from './operation.ts';

export const policyTemplates = defineOperation({
  name: 'policy_templates',
  summary: 'List policy templates',
  description: 'The policy packs that come with the service, and those of its plug-ins.',
  http: { method: 'GET', path: '/v1/policies/templates' },
  cli: {
    verb: 'templates list',
    columns: {
      rows: 'templates',
      cells: { NAME: 'name', SOURCE: 'source', ABOUT: 'description' },
      empty: 'There are no templates.',
    },
    examples: [['customshouse templates list', '']],
  },
  permission: 'policy:read',
  needs: 'plugins',
  input: Type.Object({}),
  output: Type.Object({
    count: Type.Integer(),
    templates: Type.Array(
      Type.Object({
        name: Type.String(),
        description: Type.String(),
        source: Type.Enum(['builtin', 'plugin']),
      }),
    ),
  }),
  example: {},
  answer: listTemplates(NO_PLUGINS),
  run: async (_input, { runtime }) => listTemplates(await runtime.plugins()),
});

function listTemplates(plugins: PluginsInUse) {
  const all = [
    ...policyPacks.map((template) => ({ ...template, source: 'builtin' as const })),
    ...plugins.templates.map((template) => ({ ...template, source: 'plugin' as const })),
  ];
  return {
    count: all.length,
    templates: all.map(({ name, description, source }) => ({ name, description, source })),
  };
}

export const policyTemplate = defineOperation({
  name: 'policy_template',
  summary: 'Show a policy template',
  description: 'Returns the document of one pack, as for a file below `policies/`.',
  http: { method: 'GET', path: '/v1/policies/templates/{template_name}' },
  permission: 'policy:read',
  needs: 'plugins',
  input: Type.Object({
    template_name: Type.String({ maxLength: 256, description: 'In any case of letters.' }),
  }),
  output: Type.Unsafe<object>({ type: 'object' }),
  example: { template_name: 'finance' },
  answer: finance.document as object,
  refusals: ['not_found'],
  async run({ template_name }, { runtime }) {
    const wanted = template_name.trim().toLowerCase();
    const all = [...policyPacks, ...(await runtime.plugins()).templates];
    const template = all.find(({ name }) => name === wanted);
    if (template !== undefined) return template.document as object;
    const names = all.map(({ name }) => `\`${name}\``).join(', ');
    throw new Refusal('not_found', `There is no template of that name. There are ${names}.`);
  },
});
