import { Type } from '../core/schema.ts';
import type { PluginReport } from '../runtime/plugins/types.ts';
import { defineOperation } from './operation.ts';

const names = Type.Array(Type.String(), { description: 'Their names.' });

export const pluginsList = defineOperation({
  name: 'plugins_list',
  summary: 'List plug-ins',
  description:
    'The plug-ins that the configuration names, those that are left out too, with the reason; the same on every worker.',
  http: { method: 'GET', path: '/v1/plugins' },
  mcp: { tool: 'list_plugins', read_only: true },
  permission: 'policy:read',
  needs: 'plugins',
  input: Type.Object({}),
  output: Type.Object({
    count: Type.Integer(),
    plugins: Type.Array(
      Type.Object({
        name: Type.String(),
        version: Type.Nullable(Type.String({ description: '`null` where it gave none.' })),
        kind: Type.Enum(['file', 'package']),
        path: Type.String({ description: 'As the configuration names it.' }),
        status: Type.Enum(['active', 'rejected']),
        sha256: Type.Nullable(Type.String({ description: 'Of the file that was loaded.' })),
        detector_count: Type.Integer(),
        template_count: Type.Integer(),
        adapter_count: Type.Integer(),
        detectors: Type.Array(Type.String(), { description: 'Their ids.' }),
        templates: names,
        drivers: { ...names, description: 'Drivers, such as secret backends.' },
        dialects: { ...names, description: 'Dialects that coding agents use with `customshouse hook`.' },
        adapters: { ...names, description: 'Adapters of `/v1/adapters/{adapter_name}`.' },
        problems: Type.Array(Type.String(), { description: 'The reason if it was not loaded.' }),
      }),
    ),
    adapters: { ...names, description: 'All available adapters.' },
  }),
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
