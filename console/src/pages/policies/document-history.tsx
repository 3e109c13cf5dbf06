import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { JsonDiff } from '../../components/json-diff.tsx';
import { Panel } from '../../components/page-header.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { Time } from '../../components/time.tsx';
import { useWeakerConfirmation, WhyField } from '../../components/weaker-confirmation.tsx';

type Version = OperationOutput<'policyVersionsList'>['versions'][number];

/** The versions of the policy document, with comparison and rollback. */
export function DocumentHistory({ current }: { readonly current: number | null }) {
  const { data, error } = useOperation('policyVersionsList', { limit: 1_000 });
  const mayCall = useMayCall();
  const [compared, setCompared] = useState<number | null>(null);
  const [restored, setRestored] = useState<number | null>(null);
  const columns: readonly DataColumn<Version>[] = [
    { id: 'version', title: 'Version', value: ({ version }) => version, is_number: true, width: 80 },
    {
      id: 'created_by',
      title: 'By',
      value: ({ created_by }) => created_by,
      render: ({ created_by }) => <SafeText text={created_by} />,
    },
    {
      id: 'created_at',
      title: 'When',
      value: ({ created_at }) => created_at,
      render: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: 'note',
      title: 'Why',
      value: ({ note }) => note,
      render: ({ note, restored_from }) => (
        <>
          {restored_from === null ? null : <span className="muted">version {restored_from} again; </span>}
          <SafeText text={note} />
        </>
      ),
      width: 300,
    },
    {
      id: 'change',
      title: 'Compare, restore',
      value: () => '',
      width: 200,
      render: ({ version }) => (
        <span className="row-buttons">
          <button type="button" className="button small" onClick={() => setCompared(version)}>
            Compare
          </button>
          {version !== current && mayCall('policyDocumentRollback') ? (
            <button type="button" className="button small" onClick={() => setRestored(version)}>
              Restore
            </button>
          ) : null}
        </span>
      ),
    },
  ];
  return (
    <Panel title="History">
      {error === null ? null : <ErrorNote error={error} />}
      <DataTable
        name="policy-versions"
        label="Versions of the policy document"
        columns={columns}
        rows={data?.versions ?? []}
        rowKey={({ version }) => String(version)}
        empty={
          data === undefined ? (
            <p className="muted">Loading …</p>
          ) : (
            <EmptyState title="Nothing was saved yet.">
              Write rules above, or install a template. Rules in files stay as they are.
            </EmptyState>
          )
        }
      />
      {compared === null ? null : <DocumentDiff version={compared} />}
      {restored === null ? null : <RollbackDialog version={restored} onClose={() => setRestored(null)} />}
    </Panel>
  );
}

function DocumentDiff({ version }: { readonly version: number }) {
  const { data, error } = useOperation('policyVersionDiff', { from: version - 1, to: version });
  if (error !== null) return <ErrorNote error={error} />;
  if (data === undefined) return <p className="muted">Loading …</p>;
  return (
    <div className="stack">
      <h3>{data.from === 0 ? `Version ${data.to}` : `Version ${data.from} to version ${data.to}`}</h3>
      {data.diff === '' ? (
        <p className="muted">The texts are equal.</p>
      ) : (
        <JsonDiff label={`Change of version ${data.to}`} before={data.before} after={data.after} />
      )}
    </div>
  );
}

interface RollbackDialogProps {
  readonly version: number;
  readonly onClose: () => void;
}

function RollbackDialog({ version, onClose }: RollbackDialogProps) {
  const call = useOperationCall('policyDocumentRollback', [
    'policyDocumentShow',
    'policyVersionsList',
    'dashboardRules',
  ]);
  const weaker = useWeakerConfirmation(call.error);
  const [note, setNote] = useState('');
  return (
    <ConfirmDialog
      title={`Restore version ${version}`}
      action="Restore version"
      is_busy={call.isPending}
      error={call.error}
      onClose={onClose}
      onConfirm={() =>
        call.mutate({ version, ...(note === '' ? {} : { note }), ...weaker.input }, { onSuccess: onClose })
      }
    >
      <p>Its text becomes the next version, which all workers use at once. The history stays as it is.</p>
      {weaker.field}
      <WhyField value={note} is_required={weaker.is_asked} onChange={setNote} />
    </ConfirmDialog>
  );
}
