import { Type } from '../../core/schema.ts';
import { defineOperation } from '../../operations/operation.ts';
import { policyTemplates } from '../../operations/templates.ts';

const { cli: _cli, ...list } = policyTemplates;

export const dashboardTemplates = defineOperation({
  ...list,
  name: 'dashboard_templates',
  http: { method: 'GET', path: '/v1/dashboard/templates' },
  permission: 'dashboard:view',
  for_users: true,
});

export const dashboardTemplatesSearch = defineOperation({
  name: 'dashboard_templates_search',
  summary: 'Search policy templates',
  description:
    'Finds templates whose name or description contains every word. Nothing is fetched from a network.',
  http: { method: 'POST', path: '/v1/dashboard/templates/search' },
  permission: 'dashboard:view',
  for_users: true,
  needs: 'plugins',
  input: Type.Object({
    query: Type.Optional(Type.String({ maxLength: 256, description: 'Words; without any, all templates.' })),
    tags: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16, description: 'Further words.' }),
    ),
  }),
  output: policyTemplates.output,
  example: { query: 'payment data' },
  answer: null,
  refusals: ['invalid_request'],
  async run({ query = '', tags = [] }, context) {
    const words = [...query.split(/\s+/), ...tags]
      .map((word) => word.toLowerCase())
      .filter((word) => word !== '');
    const { templates } = await policyTemplates.run({}, context);
    const found = templates.filter(({ name, description }) => {
      const searched = `${name} ${description}`.toLowerCase();
      return words.every((word) => searched.includes(word));
    });
    return { count: found.length, templates: found };
  },
});
