import type { OperationOutput } from '../../api/client.ts';
import { useOperation } from '../../api/use-operation.ts';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';

type Plugin = OperationOutput<'pluginsList'>['plugins'][number];

const COLUMNS: readonly DataColumn<Plugin>[] = [
  { id: 'name', title: 'Plug-in' },
  { id: 'version', title: 'Version', width: 90 },
  {
    id: 'status',
    title: 'Status',
    form: 'badge',
  },
  { id: 'path', title: 'From' },
  {
    id: 'detectors',
    title: 'Detectors',
    value: ({ detector_count }) => detector_count,
    is_number: true,
    width: 90,
  },
  {
    id: 'templates',
    title: 'Templates',
    value: ({ template_count }) => template_count,
    is_number: true,
    width: 90,
  },
  {
    id: 'adapters',
    title: 'Adapters',
    value: ({ adapter_count }) => adapter_count,
    is_number: true,
    width: 90,
  },
  {
    id: 'problems',
    title: 'Problems',
    value: ({ problems }) => problems.join(' '),
    width: 320,
  },
];

/** The plug-ins that the configuration names, with the reason if one is left out. */
export function PluginsPanel() {
  const { data, error } = useOperation('pluginsList', {});
  return (
    <>
      <DataTable
        name="plugins"
        error={error}
        label="Plug-ins"
        columns={COLUMNS}
        rows={data?.plugins}
        rowKey={({ name, path }) => `${name} ${path}`}
        empty={
          <EmptyState title="No plug-in is configured." command="customshouse plugins check FILE">
            A plug-in adds detectors, templates, adapters or drivers. Name it under <code>plugins.files</code>
            .
          </EmptyState>
        }
      />
    </>
  );
}
