import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useOperation } from '../../api/use-operation.ts';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { SafeText } from '../../components/safe-text.tsx';

type Setting = OperationOutput<'settingsShow'>['settings'][number];

const COLUMNS: readonly DataColumn<Setting>[] = [
  {
    id: 'path',
    title: 'Setting',
    value: ({ path }) => path,
    render: ({ path }) => <code>{path}</code>,
    width: 260,
  },
  {
    id: 'value',
    title: 'Value',
    value: ({ value }) => JSON.stringify(value),
    render: ({ value }) => <SafeText text={JSON.stringify(value)} />,
    width: 420,
  },
  { id: 'source', title: 'Source', value: describeSource, width: 170 },
];

/** The effective value of every setting, and where it comes from. */
export function SettingsPanel() {
  const [changed, setChanged] = useState(true);
  const { data, error } = useOperation('settingsShow', {});
  const rows = (data?.settings ?? []).filter(({ source }) => !changed || source !== 'default');
  return (
    <>
      {error === null ? null : <ErrorNote error={error} />}
      {data === undefined ? null : (
        <p className="muted">
          {data.config_file === null ? (
            'There is no configuration file: every setting has its default.'
          ) : (
            <>
              From <code>{data.config_file}</code>, as it is now.
            </>
          )}
        </p>
      )}
      <DataTable
        name="settings"
        label="Settings"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ path }) => path}
        is_tall
        empty={
          <p className="muted">{data === undefined ? 'Loading …' : 'No setting differs from its default.'}</p>
        }
      >
        <button
          type="button"
          className="button small"
          aria-pressed={changed}
          onClick={() => setChanged(!changed)}
        >
          Only those that differ from the default
        </button>
      </DataTable>
    </>
  );
}

function describeSource({ source, line }: Setting): string {
  if (source === 'default') return 'default';
  return source === 'reference' ? `variable or secret, line ${line}` : `file, line ${line}`;
}
