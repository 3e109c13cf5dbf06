import { operation } from './operation.ts';

export const pluginsList = operation({
  name: 'plugins_list',
  summary: 'List plug-ins',
  description: 'The plug-ins that are loaded. This version loads none.',
  http: { method: 'GET', path: '/v1/plugins' },
  mcp: { tool: 'list_plugins', read_only: true },
  permission: 'policy:read',
  needs: 'nothing',
  input: { type: 'object', properties: {} },
  output: {
    type: 'object',
    required: ['count', 'plugins', 'adapters'],
    properties: {
      count: { type: 'integer' },
      plugins: { type: 'array', items: { type: 'object' } },
      adapters: { type: 'array', items: { type: 'string' } },
    },
  },
  example: {},
  answer: { count: 0, plugins: [], adapters: [] },
  run: () => ({ count: 0, plugins: [], adapters: [] }),
});
