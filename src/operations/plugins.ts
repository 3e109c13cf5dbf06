import type { PluginReport } from '../runtime/plugins/types.ts';
import { defineOperation } from './operation.ts';

const names = { type: 'array', items: { type: 'string' }, description: 'Their names.' } as const;

export const pluginsList = defineOperation({
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
            'drivers',
            'dialects',
            'adapters',
            'problems',
          ],
          properties: {
            name: { type: 'string' },
            version: { type: ['string', 'null'], description: '`null` where it gave none.' },
            kind: { enum: ['file', 'package'] },
            path: { type: 'string', description: 'As the configuration names it.' },
            status: { enum: ['active', 'rejected'] },
            sha256: { type: ['string', 'null'], description: 'Of the file that was loaded.' },
            detector_count: { type: 'integer' },
            template_count: { type: 'integer' },
            adapter_count: { type: 'integer' },
            detectors: { type: 'array', items: { type: 'string' }, description: 'Their ids.' },
            templates: names,
            drivers: { ...names, description: 'Drivers, such as secret backends.' },
            dialects: { ...names, description: 'Dialects that coding agents use with `customshouse hook`.' },
            adapters: { ...names, description: 'Adapters of `/v1/adapters/{adapter_name}`.' },
            problems: {
              type: 'array',
              items: { type: 'string' },
              description: 'The reason if it was not loaded.',
            },
          },
        },
      },
      adapters: { ...names, description: 'All available adapters.' },
    },
  },
  example: {},
  answer: { count: 0, plugins: [], adapters: [] },
  run: async (_input, { runtime }) => {
    const { plugins, adapters } = await runtime.plugins();
    return {
      count: plugins.length,
      plugins: plugins.map(copyReport),
      adapters: adapters.map(({ name }) => name),
    };
  },
});

function copyReport({
  from,
  detectors,
  templates,
  drivers,
  dialects,
  adapters,
  problems,
  ...rest
}: PluginReport) {
  return {
    ...rest,
    path: from,
    detector_count: detectors.length,
    template_count: templates.length,
    adapter_count: adapters.length,
    detectors: [...detectors],
    templates: [...templates],
    drivers: [...drivers],
    dialects: [...dialects],
    adapters: [...adapters],
    problems: problems.map(({ message }) => message),
  };
}
