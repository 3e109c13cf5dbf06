import { useMemo, useState } from 'react';
import type { OperationOutput } from '../api/client.ts';
import { useMayCall } from '../api/session.ts';
import { useOperation, useOperationCall } from '../api/use-operation.ts';
import { AllowedDetectors } from '../components/allowed-detectors.tsx';
import { Button } from '../components/button.tsx';
import { CallDialog } from '../components/call-dialog.tsx';
import type { DataColumn } from '../components/data-column.ts';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { PageHeader, Panel } from '../components/page-header.tsx';
import { PeriodSelect, usePeriod } from '../components/period-select.tsx';
import { SafeText } from '../components/safe-text.tsx';
import { formatCount } from '../components/stat-tile.tsx';
import { Time } from '../components/time.tsx';
import { TryAction } from '../components/try-action.tsx';
import { TryDetection } from '../components/try-detection.tsx';

type Detection = OperationOutput<'dashboardDetection'>;
type DetectorRow = Detection['detectors'][number];
type AllowlistRow = Detection['allowlist'][number];
type ManagedEntry = OperationOutput<'allowlistList'>['entries'][number];

const LIMIT = 500;
const NONE: never[] = [];

const detectorColumns: readonly DataColumn<DetectorRow>[] = [
  {
    id: 'detector',
    title: 'Detector',
    render: ({ detector, noisy }) => (
      <>
        <SafeText text={detector} />
        {noisy ? <span className="watch-figure"> noisy</span> : null}
      </>
    ),
    width: 240,
  },
  { id: 'boundary', title: 'Boundary', width: 90 },
  {
    id: 'events',
    title: 'Events',
    value: (row) => row.event_count,
    render: (row) => formatCount(row.event_count),
    width: 90,
    is_number: true,
  },
  {
    id: 'acted',
    title: 'Acted on',
    value: ({ enforced_count }) => enforced_count,
    render: ({ enforced_count }) => formatCount(enforced_count),
    width: 90,
    is_number: true,
  },
  {
    id: 'last',
    title: 'Last seen',
    value: ({ last_seen }) => last_seen,
    form: 'time',
    width: 120,
    is_wide_only: true,
  },
];

const allowlistColumns: readonly DataColumn<AllowlistRow>[] = [
  {
    id: 'reason',
    title: 'Reason',
    width: 240,
  },
  {
    id: 'owner',
    title: 'Owner',
    width: 120,
  },
  {
    id: 'expires',
    title: 'Expires',
    render: ({ expires, expired }) => (
      <span className={expired ? 'bad-figure' : undefined}>
        <Time at={expires} />
      </span>
    ),
    width: 120,
  },
  { id: 'hits', title: 'Hits', width: 80, is_number: true },
  {
    id: 'fingerprint',
    title: 'Fingerprint',
    width: 220,
    is_wide_only: true,
  },
];

/** Shows what detectors found and where, the allowlist, and a box to try a text. */
export function DetectionPage() {
  const last = usePeriod();
  const mayCall = useMayCall();
  const { data, error } = useOperation('dashboardDetection', { last, limit: LIMIT });
  return (
    <div className="page-body">
      <PageHeader title="Detection" lead="What detectors found, where, and which of them are noisy.">
        <PeriodSelect />
      </PageHeader>
      <ErrorNote error={error} />
      {mayCall('detectionTry') ? <TryDetection /> : null}
      {mayCall('actionTry') ? <TryAction /> : null}
      <Panel title="Detectors">
        <DataTable
          name="detectors"
          label="Detectors"
          columns={detectorColumns}
          rows={data?.detectors}
          rowKey={({ detector, boundary }) => `${detector} ${boundary}`}
          empty={
            <EmptyState title="Nothing was found in this period.">
              Detectors run on every text and every argument that agents send.
            </EmptyState>
          }
        />
      </Panel>
      <AllowedDetectors />
      <Allowlist rows={data?.allowlist} />
    </div>
  );
}

function Allowlist({ rows }: { readonly rows: readonly AllowlistRow[] | undefined }) {
  const mayRemove = useMayCall()('allowlistRemove');
  const { data } = useOperation('allowlistList', { limit: LIMIT });
  const [removed, setRemoved] = useState<ManagedEntry | null>(null);
  const columns = useMemo(
    () => [...allowlistColumns, buildRemoveColumn(data?.entries ?? NONE, mayRemove, setRemoved)],
    [data, mayRemove],
  );
  return (
    <Panel title="Allowlist">
      <DataTable
        name="allowlist"
        label="Allowlist"
        columns={columns}
        rows={rows}
        rowKey={({ fingerprint }) => fingerprint}
        empty={
          <EmptyState
            title="No value is allowlisted."
            command={
              'customshouse fingerprint add --reason "test tenant" --owner ops --expires 90d < value.txt'
            }
          >
            Open an incident and use “Allowlist …” next to what was found. A value is stored as its keyed
            fingerprint only, with a reason and an expiry. For <code>detection.allowlist</code> in{' '}
            <code>service.yaml</code>, this command prints the fingerprint of a value:
          </EmptyState>
        }
      />
      {removed === null ? null : <RemoveDialog entry={removed} onClose={() => setRemoved(null)} />}
    </Panel>
  );
}

function buildRemoveColumn(
  entries: readonly ManagedEntry[],
  mayRemove: boolean,
  onRemove: (entry: ManagedEntry) => void,
): DataColumn<AllowlistRow> {
  const find = ({ fingerprint }: AllowlistRow) => entries.find((each) => each.fingerprint === fingerprint);
  return {
    id: 'change',
    title: 'Change',
    value: (row) => (find(row) === undefined ? 'in the configuration' : ''),
    render: (row) => {
      const entry = find(row);
      if (entry === undefined) return <span className="muted">in the configuration</span>;
      if (!mayRemove) return <span className="muted">–</span>;
      return (
        <Button look="danger" is_small onClick={() => onRemove(entry)}>
          Remove …
        </Button>
      );
    },
    width: 150,
  };
}

function RemoveDialog({ entry, onClose }: { readonly entry: ManagedEntry; readonly onClose: () => void }) {
  const call = useOperationCall('allowlistRemove', ['dashboardDetection', 'allowlistList']);
  const { fingerprint = '' } = entry;
  const tenantId = entry.tenant_id ?? null;
  return (
    <CallDialog
      title="Remove this entry?"
      action="Remove entry"
      is_dangerous
      call={call}
      input={{ fingerprint, tenant_id: tenantId }}
      onClose={onClose}
    >
      <p>
        Rules act on the value again{' '}
        {tenantId === null ? (
          'in all tenants'
        ) : (
          <>
            in the tenant <SafeText text={tenantId} />
          </>
        )}
        . The entry was made by <SafeText text={entry.created_by} />: <SafeText text={entry.reason} />
      </p>
    </CallDialog>
  );
}
