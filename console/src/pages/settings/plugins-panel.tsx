import type { OperationOutput } from '../../api/client.ts';
import { useOperation } from '../../api/use-operation.ts';
import { Badge } from '../../components/badge.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { SafeText } from '../../components/safe-text.tsx';

type Plugin = OperationOutput<'pluginsList'>['plugins'][number];

const COLUMNS: readonly DataColumn<Plugin>[] = [
  { id: 'name', title: 'Plug-in', value: ({ name }) => name, render: ({ name }) => <SafeText text={name} /> },
  { id: 'version', title: 'Version', value: ({ version }) => version, width: 90 },
  {
    id: 'status',
    title: 'Status',
    value: ({ status }) => status,
    render: ({ status }) => <Badge value={status} />,
  },
  { id: 'path', title: 'From', value: ({ path }) => path, render: ({ path }) => <SafeText text={path} /> },
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
    render: ({ problems }) => <SafeText text={problems.join(' ')} />,
    width: 320,
  },
];

/** The plug-ins that the configuration names, with the reason if one is left out. */
export function PluginsPanel() {
  const { data, error } = useOperation('pluginsList', {});
  return (
    <>
      {error === null ? null : <ErrorNote error={error} />}
      <DataTable
        name="plugins"
        label="Plug-ins"
        columns={COLUMNS}
        rows={data?.plugins ?? []}
        rowKey={({ name, path }) => `${name} ${path}`}
        empty={
          data === undefined ? (
            <p className="muted">Loading …</p>
          ) : (
            <EmptyState title="No plug-in is configured." command="customshouse plugins check FILE">
              A plug-in adds detectors, templates, adapters or drivers. Name it under{' '}
              <code>plugins.files</code>.
            </EmptyState>
          )
        }
      />
    </>
  );
}
