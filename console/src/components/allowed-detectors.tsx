import { useMemo, useState } from 'react';
import type { OperationOutput } from '../api/client.ts';
import { useMayCall } from '../api/session.ts';
import { useOperation, useOperationCall } from '../api/use-operation.ts';
import { Button } from './button.tsx';
import { CallDialog } from './call-dialog.tsx';
import type { DataColumn } from './data-column.ts';
import { DataTable } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { Panel } from './page-header.tsx';
import { SafeText } from './safe-text.tsx';

type Entry = OperationOutput<'allowlistDetectorList'>['entries'][number];

const LIMIT = 500;
const columns: readonly DataColumn<Entry>[] = [
  defineNameColumn('rule_id', 'Detector', 200),
  defineNameColumn('tool_name', 'Tool', 120),
  defineNameColumn('agent_id', 'Agent', 140),
  defineNameColumn('tenant_id', 'Tenant', 120),
  defineNameColumn('reason', 'Reason', 200),
  {
    id: 'expires',
    title: 'Ends',
    value: ({ expires_at }) => expires_at,
    form: 'time',
    width: 120,
  },
];

/** Lists the detectors that are allowed for a time, each with a button that revokes it. */
export function AllowedDetectors() {
  const mayRevoke = useMayCall()('allowlistDetectorRevoke');
  const { data, error } = useOperation('allowlistDetectorList', { limit: LIMIT });
  const [revoked, setRevoked] = useState<Entry | null>(null);
  const all = useMemo(() => (mayRevoke ? [...columns, buildRevokeColumn(setRevoked)] : columns), [mayRevoke]);
  return (
    <Panel title="Allowed detectors">
      <DataTable
        name="allowed-detectors"
        error={error}
        label="Allowed detectors"
        columns={all}
        rows={data?.entries}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="No detector is allowed." command="customshouse allow EVENT_ID --reason ...">
            Open an incident and use “Allow …”, or name the event at the command line:
          </EmptyState>
        }
      />
      {revoked === null ? null : <RevokeDialog entry={revoked} onClose={() => setRevoked(null)} />}
    </Panel>
  );
}

function defineNameColumn(
  id: 'rule_id' | 'tool_name' | 'agent_id' | 'tenant_id' | 'reason',
  title: string,
  width: number,
): DataColumn<Entry> {
  return {
    id,
    title,
    value: (entry) => entry[id] ?? 'any',
    render: (entry) => <SafeText text={entry[id] ?? 'any'} />,
    width,
  };
}

function buildRevokeColumn(onRevoke: (entry: Entry) => void): DataColumn<Entry> {
  return {
    id: 'change',
    title: 'Change',
    value: () => '',
    render: (entry) => (
      <Button look="danger" is_small onClick={() => onRevoke(entry)}>
        Revoke …
      </Button>
    ),
    width: 120,
  };
}

function RevokeDialog({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  const call = useOperationCall('allowlistDetectorRevoke', ['allowlistDetectorList']);
  return (
    <CallDialog
      title="Revoke this entry?"
      action="Revoke entry"
      is_dangerous
      call={call}
      input={{ id: entry.id }}
      onClose={onClose}
    >
      <p>
        Rules act on <SafeText text={entry.rule_id} /> again. The entry was made by{' '}
        <SafeText text={entry.created_by} />: <SafeText text={entry.reason} />
      </p>
    </CallDialog>
  );
}
