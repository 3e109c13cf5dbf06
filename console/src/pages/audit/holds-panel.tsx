import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall, useSession } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import { CallDialog } from '../../components/call-dialog.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { TextField } from '../../components/text-field.tsx';

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
    width: 240,
  },
  text('tenant_id', 'Tenant'),
  { ...text('agent_id', 'Agent'), width: 120, is_wide_only: true },
  { ...text('session_id', 'Session'), width: 120, is_wide_only: true },
  {
    id: 'since',
    title: 'From',
    render: ({ since }) => <Day at={since} />,
    width: 110,
    is_wide_only: true,
  },
  {
    id: 'until',
    title: 'Before',
    render: ({ until }) => <Day at={until} />,
    width: 110,
    is_wide_only: true,
  },
  {
    id: 'created_at',
    title: 'Added',
    form: 'time',
    width: 110,
    is_wide_only: true,
  },
  { id: 'created_by', title: 'Added by', is_extra: true },
];

function Day({ at }: { readonly at: string | null }) {
  return at === null ? <span className="muted">no limit</span> : <span>{at.slice(0, 10)}</span>;
}

/** The legal holds: retention deletes no file of the log with an event that one of them matches. */
export function HoldsPart() {
  const mayCall = useMayCall();
  const holds = useOperation('auditHoldsList', { limit: 500 });
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Hold | null>(null);
  const mayRemove = mayCall('auditHoldRemove');
  const action: DataColumn<Hold> = {
    id: 'remove',
    title: 'Change',
    value: () => null,
    render: (hold) => (
      <Button is_small onClick={() => setRemoved(hold)}>
        Remove
      </Button>
    ),
    width: 110,
  };
  return (
    <div className="stack">
      <p className="hint">
        A legal hold keeps events of the audit log beyond their maximum age. It matches by tenant, agent,
        session and time; all that are given must match.
      </p>
      <DataTable
        name="legal-holds"
        error={holds.error}
        label="Legal holds"
        columns={mayRemove ? [...COLUMNS, action] : COLUMNS}
        rows={holds.data?.holds}
        rowKey={({ hold_id }) => hold_id}
        empty={
          <EmptyState
            title="There are no legal holds."
            command='customshouse audit hold add --tenant acme --since 2026-07-01 --reason "Case 2026-114"'
          >
            Retention deletes files by age alone. This command adds a hold.
          </EmptyState>
        }
      >
        {mayCall('auditHoldAdd') ? (
          <Button look="primary" onClick={() => setAdding(true)}>
            Add a legal hold
          </Button>
        ) : null}
      </DataTable>
      {isAdding ? <AddHoldDialog onClose={() => setAdding(false)} /> : null}
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
    <CallDialog
      title="Add a legal hold"
      action="Add hold"
      call={call}
      input={{ ...given, reason: hold.reason }}
      onClose={onClose}
    >
      <TextField
        label="Reason, such as the number of a case"
        value={hold.reason}
        onChange={change('reason')}
        required
      />
      <TextField label="Tenant; empty for all" value={hold.tenant_id} onChange={change('tenant_id')} />
      <TextField label="Agent; empty for all" value={hold.agent_id} onChange={change('agent_id')} />
      <TextField label="Session; empty for all" value={hold.session_id} onChange={change('session_id')} />
      <div className="field-row">
        <TextField type="date" label="From (UTC)" value={hold.since} onChange={change('since')} />
        <TextField type="date" label="Before (UTC)" value={hold.until} onChange={change('until')} />
      </div>
    </CallDialog>
  );
}

function RemoveHoldDialog({ hold, onClose }: { readonly hold: Hold; readonly onClose: () => void }) {
  const call = useOperationCall('auditHoldRemove', ['auditHoldsList']);
  return (
    <CallDialog
      title="Remove the legal hold"
      action="Remove hold"
      is_dangerous
      call={call}
      input={{ hold_id: hold.hold_id }}
      onClose={onClose}
    >
      <p>
        Retention may delete the files again that only “<SafeText text={hold.reason} />” kept. Events that are
        deleted cannot be brought back.
      </p>
    </CallDialog>
  );
}
