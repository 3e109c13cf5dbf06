import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall, useSession } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { DayField } from '../../components/evidence-pack-dialog.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { Time } from '../../components/time.tsx';

type Hold = OperationOutput<'auditHoldsList'>['holds'][number];

const text = (id: 'tenant_id' | 'agent_id' | 'session_id', title: string): DataColumn<Hold> => ({
  id,
  title,
  value: (hold) => hold[id],
  render: (hold) => (hold[id] === null ? <span className="muted">all</span> : <SafeText text={hold[id]} />),
});

const COLUMNS: readonly DataColumn<Hold>[] = [
  {
    id: 'reason',
    title: 'Reason',
    value: ({ reason }) => reason,
    render: ({ reason }) => <SafeText text={reason} />,
    width: 240,
  },
  text('tenant_id', 'Tenant'),
  { ...text('agent_id', 'Agent'), width: 120, is_wide_only: true },
  { ...text('session_id', 'Session'), width: 120, is_wide_only: true },
  {
    id: 'since',
    title: 'From',
    value: ({ since }) => since,
    render: ({ since }) => <Day at={since} />,
    width: 110,
    is_wide_only: true,
  },
  {
    id: 'until',
    title: 'Before',
    value: ({ until }) => until,
    render: ({ until }) => <Day at={until} />,
    width: 110,
    is_wide_only: true,
  },
  {
    id: 'created_at',
    title: 'Added',
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Time at={created_at} />,
    width: 110,
    is_wide_only: true,
  },
  { id: 'created_by', title: 'Added by', value: ({ created_by }) => created_by, is_extra: true },
];

function Day({ at }: { readonly at: string | null }) {
  return at === null ? <span className="muted">no limit</span> : <span>{at.slice(0, 10)}</span>;
}

/** The legal holds: retention deletes no file of the log with an event that one of them matches. */
export function HoldsPart() {
  const mayCall = useMayCall();
  const holds = useOperation('auditHoldsList', { limit: 500 });
  const [is_adding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Hold | null>(null);
  const may_remove = mayCall('auditHoldRemove');
  const action: DataColumn<Hold> = {
    id: 'remove',
    title: 'Change',
    value: () => null,
    render: (hold) => (
      <button type="button" className="button small" onClick={() => setRemoved(hold)}>
        Remove
      </button>
    ),
    width: 110,
  };
  return (
    <div className="stack">
      <p className="hint">
        A legal hold keeps events of the audit log beyond their maximum age. It matches by tenant, agent,
        session and time; all that are given must match.
      </p>
      {holds.error === null ? null : <ErrorNote error={holds.error} />}
      <DataTable
        name="legal-holds"
        label="Legal holds"
        columns={may_remove ? [...COLUMNS, action] : COLUMNS}
        rows={holds.data?.holds ?? []}
        rowKey={({ hold_id }) => hold_id}
        empty={
          holds.isPending ? (
            <p className="muted">Loading …</p>
          ) : (
            <EmptyState
              title="There are no legal holds."
              command='customshouse audit hold add --tenant acme --since 2026-07-01 --reason "Case 2026-114"'
            >
              Retention deletes files by age alone. This command adds a hold.
            </EmptyState>
          )
        }
      >
        {mayCall('auditHoldAdd') ? (
          <button type="button" className="button primary" onClick={() => setAdding(true)}>
            Add a legal hold
          </button>
        ) : null}
      </DataTable>
      {is_adding ? <AddHoldDialog onClose={() => setAdding(false)} /> : null}
      {removed === null ? null : <RemoveHoldDialog hold={removed} onClose={() => setRemoved(null)} />}
    </div>
  );
}

const NOTHING = { tenant_id: '', agent_id: '', session_id: '', since: '', until: '', reason: '' };

function AddHoldDialog({ onClose }: { readonly onClose: () => void }) {
  const { tenants } = useSession();
  const call = useOperationCall('auditHoldAdd', ['auditHoldsList']);
  const [hold, setHold] = useState({
    ...NOTHING,
    tenant_id: tenants.includes('*') ? '' : (tenants[0] ?? ''),
  });
  const change = (field: keyof typeof NOTHING) => (value: string) => setHold({ ...hold, [field]: value });
  const given = Object.fromEntries(Object.entries(hold).filter(([, value]) => value !== ''));
  return (
    <ConfirmDialog
      title="Add a legal hold"
      action="Add hold"
      is_busy={call.isPending}
      error={call.error}
      onConfirm={() => call.mutate({ ...given, reason: hold.reason }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <TextField
        label="Reason, such as the number of a case"
        value={hold.reason}
        onChange={change('reason')}
        is_required
      />
      <TextField label="Tenant; empty for all" value={hold.tenant_id} onChange={change('tenant_id')} />
      <TextField label="Agent; empty for all" value={hold.agent_id} onChange={change('agent_id')} />
      <TextField label="Session; empty for all" value={hold.session_id} onChange={change('session_id')} />
      <div className="field-row">
        <DayField label="From (UTC)" value={hold.since} onChange={change('since')} />
        <DayField label="Before (UTC)" value={hold.until} onChange={change('until')} />
      </div>
    </ConfirmDialog>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly is_required?: boolean;
}

function TextField({ label, value, onChange, is_required = false }: TextFieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="input"
        spellCheck={false}
        maxLength={256}
        required={is_required}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}

function RemoveHoldDialog({ hold, onClose }: { readonly hold: Hold; readonly onClose: () => void }) {
  const call = useOperationCall('auditHoldRemove', ['auditHoldsList']);
  return (
    <ConfirmDialog
      title="Remove the legal hold"
      action="Remove hold"
      is_dangerous
      is_busy={call.isPending}
      error={call.error}
      onConfirm={() => call.mutate({ hold_id: hold.hold_id }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        Retention may delete the files again that only “<SafeText text={hold.reason} />” kept. Events that are
        deleted cannot be brought back.
      </p>
    </ConfirmDialog>
  );
}
