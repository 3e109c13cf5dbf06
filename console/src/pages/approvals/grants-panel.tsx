import { useState } from 'react';
import type { OperationOutput } from '../../api/client.ts';
import { useMayCall } from '../../api/session.ts';
import { useOperation, useOperationCall } from '../../api/use-operation.ts';
import { Button } from '../../components/button.tsx';
import { CallDialog } from '../../components/call-dialog.tsx';
import type { DataColumn } from '../../components/data-column.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/page-header.tsx';
import { Prose } from '../../components/prose.tsx';

type Grant = OperationOutput<'approvalsGrantsList'>['grants'][number];

const LIMIT = 200;
const REFRESH_MS = 5_000;

/** The active grants, of all agents or of one, with the calls that they cover. Revokes them. */
export function GrantsPanel({ agent_id }: { readonly agent_id?: string }) {
  const mayCall = useMayCall();
  const { data, error } = useOperation(
    'approvalsGrantsList',
    { status: 'active', limit: LIMIT, ...(agent_id === undefined ? {} : { agent_id }) },
    { refresh_ms: REFRESH_MS, enabled: mayCall('approvalsGrantsList') },
  );
  const [revoked, setRevoked] = useState<Grant | null>(null);
  if (!mayCall('approvalsGrantsList')) return null;
  return (
    <Panel title={agent_id === undefined ? 'Active grants' : 'Active grants of this agent'}>
      <ErrorNote error={error} />
      <DataTable
        name="grants"
        label="Active grants"
        columns={mayCall('approvalsGrantsRevoke') ? [...COLUMNS, buildRevokeColumn(setRevoked)] : COLUMNS}
        rows={data?.grants}
        rowKey={({ grant_id }) => grant_id}
        empty={
          <EmptyState title="No grant is active.">
            With an approval, you can also approve the next equal calls for a time.
          </EmptyState>
        }
      />
      {revoked === null ? null : <RevokeGrantDialog grant={revoked} onClose={() => setRevoked(null)} />}
    </Panel>
  );
}

const COLUMNS: readonly DataColumn<Grant>[] = [
  {
    id: 'sentence',
    title: 'Calls',
    width: 420,
    render: ({ sentence }) => <Prose text={sentence} />,
  },
  { id: 'uses', title: 'Uses', width: 80, value: ({ uses, uses_max }) => `${uses} of ${uses_max}` },
  { id: 'expires_at', title: 'Expires', form: 'time', width: 120 },
  {
    id: 'approved_by',
    title: 'Approved by',
    width: 120,
    value: ({ approved_by }) => approved_by.join(', '),
    is_wide_only: true,
  },
  { id: 'tenant_id', title: 'Tenant', width: 100, is_extra: true },
  { id: 'grant_id', title: 'ID', width: 260, is_extra: true },
];

function buildRevokeColumn(onRevoke: (grant: Grant) => void): DataColumn<Grant> {
  return {
    id: 'change',
    title: 'Change',
    value: () => '',
    width: 100,
    render: (grant) => (
      <Button look="danger" is_small onClick={() => onRevoke(grant)}>
        Revoke
      </Button>
    ),
  };
}

interface RevokeGrantDialogProps {
  readonly grant: Grant;
  readonly onClose: () => void;
}

function RevokeGrantDialog({ grant, onClose }: RevokeGrantDialogProps) {
  const call = useOperationCall('approvalsGrantsRevoke', ['approvalsGrantsList']);
  return (
    <CallDialog
      title="Revoke this grant?"
      action="Revoke grant"
      is_dangerous
      onClose={onClose}
      call={call}
      input={{ grant_id: grant.grant_id }}
    >
      <p>
        <Prose text={grant.sentence} /> Each of these calls needs an approval again.
      </p>
    </CallDialog>
  );
}
