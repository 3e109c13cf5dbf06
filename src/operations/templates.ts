import { finance } from '../core/templates/finance.ts';
import { templates } from '../core/templates/index.ts';
import { operation, Refusal } from './operation.ts';

export const policyTemplates = operation({
  name: 'policy_templates',
  summary: 'List policy templates',
  description: 'The policy packs that come with the service.',
  http: { method: 'GET', path: '/v1/policies/templates' },
  permission: 'policy:read',
  needs: 'nothing',
  input: { type: 'object', properties: {} },
  output: {
    type: 'object',
    required: ['count', 'templates'],
    properties: {
      count: { type: 'integer' },
      templates: {
        type: 'array',
        items: {
          type: 'object',
          required: ['name', 'description', 'source'],
          properties: {
            name: { type: 'string' },
            description: { type: 'string' },
            source: { enum: ['builtin', 'plugin'] },
          },
        },
      },
    },
  },
  example: {},
  answer: listed(),
  run: listed,
});

function listed() {
  return {
    count: templates.length,
    templates: templates.map(({ name, description }) => ({ name, description, source: 'builtin' as const })),
  };
}

export const policyTemplate = operation({
  name: 'policy_template',
  summary: 'Show a policy template',
  description: 'The document of one pack, as it would stand in a file below `policies/`.',
  http: { method: 'GET', path: '/v1/policies/templates/{template_name}' },
  permission: 'policy:read',
  needs: 'nothing',
  input: {
    type: 'object',
    required: ['template_name'],
    properties: { template_name: { type: 'string', maxLength: 256, description: 'In any case of letters.' } },
  },
  output: { type: 'object' },
  example: { template_name: 'finance' },
  answer: finance.document as object,
  refusals: ['not_found'],
  run({ template_name }) {
    const wanted = template_name.trim().toLowerCase();
    const template = templates.find(({ name }) => name === wanted);
    if (template !== undefined) return template.document as object;
    const names = templates.map(({ name }) => `\`${name}\``).join(', ');
    throw new Refusal('not_found', `There is no template of that name. There are ${names}.`);
  },
});
