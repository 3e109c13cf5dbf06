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
import { SafeText } from '../../components/safe-text.tsx';

type Pin = OperationOutput<'mcpPinsList'>['pins'][number];

const COLUMNS: readonly DataColumn<Pin>[] = [
  {
    id: 'server',
    title: 'Server',
  },
  { id: 'tool', title: 'Tool' },
  {
    id: 'status',
    title: 'Status',
    form: 'badge',
  },
  {
    id: 'reason',
    title: 'Why it is held back',
    value: ({ quarantined_reason }) => quarantined_reason,
    width: 320,
  },
  {
    id: 'approved_by',
    title: 'Approved by',
    is_wide_only: true,
  },
  {
    id: 'first_seen_at',
    title: 'First seen',
    form: 'time',
    is_wide_only: true,
  },
  {
    id: 'changed_at',
    title: 'Changed',
    form: 'time',
  },
];

/** The tools of MCP servers: the pinned definition of each, and the one that waits for approval. */
export function McpPinsPanel() {
  const { data, error } = useOperation('mcpPinsList', {});
  const [open, setOpen] = useState<Pin | null>(null);
  const waiting = (data?.pins ?? []).filter(({ status }) => status === 'quarantined').length;
  return (
    <>
      <ErrorNote error={error} />
      {waiting === 0 ? null : (
        <p className="note watch" role="status">
          {waiting === 1 ? 'One tool is' : `${waiting} tools are`} held back until an approver approves the
          definition.
        </p>
      )}
      <DataTable
        name="mcp-tools"
        label="Tools of MCP servers"
        columns={COLUMNS}
        rows={data?.pins}
        rowKey={({ tenant_id, server, user_id, tool }) => JSON.stringify([tenant_id, server, user_id, tool])}
        onOpen={setOpen}
        empty={
          <EmptyState title="No tools are known yet." command="customshouse mcp --gateway">
            A tool is pinned when an MCP server lists it through the gateway for the first time.
          </EmptyState>
        }
      />
      {open === null ? null : <PinDialog pin={open} onClose={() => setOpen(null)} />}
    </>
  );
}

function PinDialog({ pin, onClose }: { readonly pin: Pin; readonly onClose: () => void }) {
  const approve = useOperationCall('mcpPinsApprove', ['mcpPinsList']);
  const reject = useOperationCall('mcpPinsReject', ['mcpPinsList']);
  const mayCall = useMayCall();
  const { server, tool, user_id, tenant_id, quarantined_sha256: sha256 } = pin;
  const canApprove = typeof sha256 === 'string' && mayCall('mcpPinsApprove');
  const whose = {
    ...(user_id === '' ? {} : { user_id }),
    ...(tenant_id === undefined ? {} : { tenant_id }),
  };
  const confirm = () => {
    if (!canApprove) return onClose();
    approve.mutate({ server, tool, sha256, ...whose }, { onSuccess: onClose });
  };
  const canReject = canApprove && pin.status === 'quarantined' && mayCall('mcpPinsReject');
  return (
    <ConfirmDialog
      title={`${tool} of ${server}`}
      action={canApprove ? 'Approve this definition' : 'Close'}
      is_busy={approve.isPending || reject.isPending}
      error={approve.error ?? reject.error}
      {...(canReject && {
        alternative: {
          label: 'Reject it',
          onChoose: () => reject.mutate({ server, tool, sha256, ...whose }, { onSuccess: onClose }),
        },
      })}
      onClose={onClose}
      onConfirm={confirm}
    >
      {pin.quarantined_reason === null || pin.quarantined_reason === undefined ? null : (
        <p>
          <SafeText text={pin.quarantined_reason} />
        </p>
      )}
      <p className="hint">The text of a definition comes from the server and is not to be trusted.</p>
      <JsonDiff
        label="Change of the definition"
        before={pin.pinned_definition}
        after={pin.quarantined_definition ?? pin.pinned_definition}
      />
    </ConfirmDialog>
  );
}
