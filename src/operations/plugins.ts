import type { PluginReport } from '../runtime/plugins/types.ts';
import { operation } from './operation.ts';

export const pluginsList = operation({
  name: 'plugins_list',
  summary: 'List plug-ins',
  description:
    'The plug-ins that the configuration names, those that are left out too, with the reason; the same on every worker.',
  http: { method: 'GET', path: '/v1/plugins' },
  mcp: { tool: 'list_plugins', read_only: true },
  permission: 'policy:read',
  needs: 'plugins',
  input: { type: 'object', properties: {} },
  output: {
    type: 'object',
    required: ['count', 'plugins', 'adapters'],
    properties: {
      count: { type: 'integer' },
      plugins: {
        type: 'array',
        items: {
          type: 'object',
          required: [
            'name',
            'version',
            'kind',
            'path',
            'status',
            'sha256',
            'detector_count',
            'template_count',
            'adapter_count',
            'detectors',
            'templates',
            'problems',
          ],
          properties: {
            name: { type: 'string' },
            version: { type: ['string', 'null'], description: '`null` where it gave none.' },
            kind: { enum: ['file', 'package'] },
            path: { type: 'string', description: 'As the configuration names it.' },
            status: { enum: ['active', 'left_out'] },
            sha256: { type: ['string', 'null'], description: 'Of the file that was loaded.' },
            detector_count: { type: 'integer' },
            template_count: { type: 'integer' },
            adapter_count: { type: 'integer', description: 'Always 0 in this version.' },
            detectors: { type: 'array', items: { type: 'string' }, description: 'Their ids.' },
            templates: { type: 'array', items: { type: 'string' }, description: 'Their names.' },
            problems: { type: 'array', items: { type: 'string' }, description: 'Why it is left out.' },
          },
        },
      },
      adapters: { type: 'array', items: { type: 'string' }, description: 'Always empty in this version.' },
    },
  },
  example: {},
  answer: { count: 0, plugins: [], adapters: [] },
  run: async (_input, { runtime }) => {
    const { plugins } = await runtime.plugins();
    return { count: plugins.length, plugins: plugins.map(shown), adapters: [] };
  },
});

function shown({ from, detectors, templates, problems, ...rest }: PluginReport) {
  return {
    ...rest,
    path: from,
    detector_count: detectors.length,
    template_count: templates.length,
    adapter_count: 0,
    detectors: [...detectors],
    templates: [...templates],
    problems: problems.map(({ message }) => message),
  };
}
