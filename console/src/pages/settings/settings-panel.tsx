import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useOperation } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { ErrorNote } from '../../components/error-note.tsx';

type Setting = OperationOutput<'settingsShow'>['settings'][number];

const COLUMNS: readonly DataColumn<Setting>[] = [
  {
    id: 'path',
    title: 'Setting',
    render: ({ path }) => <code>{path}</code>,
    width: 260,
  },
  {
    id: 'value',
    title: 'Value',
    value: ({ value }) => JSON.stringify(value),
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
      <ErrorNote error={error} />
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
        rows={data && rows}
        rowKey={({ path }) => path}
        is_tall
        empty={<p className="muted">No setting differs from its default.</p>}
      >
        <Button is_small aria-pressed={changed} onClick={() => setChanged(!changed)}>
          Only those that differ from the default
        </Button>
      </DataTable>
    </>
  );
}

function describeSource({ source, line }: Setting): string {
  if (source === 'default') return 'default';
  return source === 'reference' ? `variable or secret, line ${line}` : `file, line ${line}`;
}
