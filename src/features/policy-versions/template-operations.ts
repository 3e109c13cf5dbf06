import { policyPacks } from '../../core/policy/templates/index.ts';
import { Type } from '../../core/schema.ts';
import { confirmInput } from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { savedDocument } from './document-operations.ts';
import { buildLineSchema } from './fields.ts';
import { installPart, uninstallPart } from './part-change.ts';

export const dashboardTemplateInstall = defineOperation({
  name: 'dashboard_template_install',
  summary: 'Install a policy template',
  description:
    'Adds the documents of a template to the end of the policy document, saves the result as the next version, and activates it in all workers.',
  http: { method: 'POST', path: '/v1/dashboard/templates/install' },
  permission: 'policies:edit',
  caller: 'person',
  tenants: 'all',
  needs: 'live',
  input: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 256, description: 'The name of the template.' }),
    note: Type.Optional(buildLineSchema('Why; shown in the history.')),
    ...confirmInput,
  }),
  output: savedDocument,
  example: { name: 'healthcare', confirm_weaker: true, note: 'Asked for by the owner of the data' },
  answer: null,
  refusals: ['not_found', 'conflict', 'policy_invalid', 'weaker_policy'],
  async run({ name, ...confirmation }, context) {
    const wanted = normalizeName(name);
    const template = (await listTemplates(context)).find((each) => each.name === wanted);
    if (template === undefined) throw new Refusal('not_found', 'There is no template of that name.');
    const { stringify } = await import('yaml');
    const part = { kind: 'Template', name: template.name, version: null } as const;
    return installPart(part, stringify(template.document), confirmation, context);
  },
});

export const dashboardTemplateRemove = defineOperation({
  name: 'dashboard_template_remove',
  summary: 'Remove a policy template',
  description:
    'Removes the documents of an installed template from the policy document, saves the result as the next version, and activates it in all workers. Documents that were edited since are kept, and the call is refused.',
  http: { method: 'POST', path: '/v1/dashboard/templates/remove' },
  permission: 'policies:edit',
  caller: 'person',
  tenants: 'all',
  needs: 'live',
  input: dashboardTemplateInstall.input,
  output: savedDocument,
  example: { name: 'healthcare', confirm_weaker: true, note: 'Asked for by the owner of the data' },
  answer: null,
  refusals: ['not_found', 'conflict', 'policy_invalid', 'weaker_policy'],
  run: ({ name, ...confirmation }, context) =>
    uninstallPart({ kind: 'Template', name: normalizeName(name) }, confirmation, context),
});

/** Names of templates and skills are in lower case. */
function normalizeName(name: string): string {
  return name.trim().toLowerCase();
}

interface Template {
  readonly name: string;
  readonly description: string;
  readonly source: 'builtin' | 'plugin';
  readonly document: unknown;
}

async function listTemplates({ runtime }: Context): Promise<readonly Template[]> {
  const { templates } = await runtime.plugins();
  return [
    ...policyPacks.map((each) => ({ ...each, source: 'builtin' as const })),
    ...templates.map((each) => ({ ...each, source: 'plugin' as const })),
  ];
}
