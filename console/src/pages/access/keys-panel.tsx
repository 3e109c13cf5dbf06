import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useOperation } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { Time } from '../../components/time.tsx';
import { type ApiKeyEntry, CreateKeyDialog, RevokeKeyDialog, RotateKeyDialog } from './key-dialogs.tsx';

interface OpenKeyDialog {
  readonly kind: 'create' | 'rotate' | 'revoke';
  readonly entry: ApiKeyEntry | null;
}

type CreatedKey = OperationOutput<'keysRotate'>;

/** The API keys of agents: creates them, rotates them with an overlap, and revokes them. */
export function KeysPanel() {
  const { data, error } = useOperation('keysList', { limit: 1_000 });
  const [dialog, setDialog] = useState<OpenKeyDialog | null>(null);
  const [created, setCreated] = useState<CreatedKey | null>(null);
  const close = () => setDialog(null);
  const entry = dialog?.entry ?? null;
  return (
    <>
      <ErrorNote error={error} />
      {created === null ? null : (
        <div className="note good" role="status">
          <p>
            This is the key <SafeText text={created.name} />. Copy it now: it is shown only once, and the
            service stores only its hash.
          </p>
          <CodeBlock text={created.key} label="API key" />
          <Button is_small onClick={() => setCreated(null)}>
            Hide the key
          </Button>
        </div>
      )}
      <DataTable
        name="keys"
        label="API keys"
        columns={buildColumns(setDialog)}
        rows={data?.keys}
        rowKey={({ key_id, name }) => key_id ?? `configuration/${name}`}
        empty={<EmptyState title="There is no API key yet." command="customshouse keys create support" />}
      >
        <Button look="primary" is_small onClick={() => setDialog({ kind: 'create', entry: null })}>
          Create an API key
        </Button>
      </DataTable>
      {dialog?.kind === 'create' ? <CreateKeyDialog onClose={close} onCreated={setCreated} /> : null}
      {dialog?.kind === 'rotate' && entry !== null ? (
        <RotateKeyDialog entry={entry} onClose={close} onCreated={setCreated} />
      ) : null}
      {dialog?.kind === 'revoke' && entry !== null ? <RevokeKeyDialog entry={entry} onClose={close} /> : null}
    </>
  );
}

function buildColumns(onOpen: (dialog: OpenKeyDialog) => void): readonly DataColumn<ApiKeyEntry>[] {
  return [
    { id: 'name', title: 'Key' },
    {
      id: 'status',
      title: 'Status',
      form: 'badge',
      width: 100,
    },
    buildScopeColumn('tenants', 'Tenants', 'any'),
    buildScopeColumn('agents', 'Agents', 'any'),
    buildScopeColumn('permissions', 'Permissions', 'the default ones'),
    {
      id: 'created_at',
      title: 'Created',
      render: ({ created_at, source }) =>
        source === 'configuration' ? 'in the configuration' : <Time at={created_at} />,
      is_wide_only: true,
    },
    {
      id: 'expires_at',
      title: 'Expires',
      value: ({ expires_at }) => expires_at,
      render: ({ expires_at, source }) => {
        if (expires_at !== null) return <Time at={expires_at} />;
        return source === 'configuration' ? <span className="muted">–</span> : 'never';
      },
      width: 110,
    },
    { id: 'key_id', title: 'ID', is_extra: true, width: 260 },
    {
      id: 'change',
      title: 'Change',
      value: () => '',
      width: 160,
      render: (entry) =>
        entry.status === 'active' && entry.source === 'api' ? (
          <span className="row-buttons">
            {entry.replaced_by === null ? (
              <Button is_small onClick={() => onOpen({ kind: 'rotate', entry })}>
                Rotate
              </Button>
            ) : null}
            <Button look="danger" is_small onClick={() => onOpen({ kind: 'revoke', entry })}>
              Revoke
            </Button>
          </span>
        ) : null,
    },
  ];
}

function buildScopeColumn(
  id: 'tenants' | 'agents' | 'permissions',
  title: string,
  without: string,
): DataColumn<ApiKeyEntry> {
  return {
    id,
    title,
    value: (entry) => entry[id]?.join(', ') ?? without,
    render: (entry) => (entry[id] === null ? without : <SafeText text={entry[id].join(', ')} />),
    is_wide_only: true,
  };
}
