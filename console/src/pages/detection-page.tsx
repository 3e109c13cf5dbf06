import type { OperationOutput } from '../api/client.ts';
import { useMayCall } from '../api/session.ts';
import { useOperation } from '../api/use-operation.ts';
import { type DataColumn, DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { PageHeader, Panel } from '../components/page-header.tsx';
import { PeriodSelect, usePeriod } from '../components/period-select.tsx';
import { SafeText } from '../components/safe-text.tsx';
import { formatCount } from '../components/stat-tile.tsx';
import { Time } from '../components/time.tsx';
import { TryDetection } from '../components/try-detection.tsx';

type Detection = OperationOutput<'dashboardDetection'>;
type DetectorRow = Detection['detectors'][number];
type AllowlistRow = Detection['allowlist'][number];

const LIMIT = 500;
const NONE: never[] = [];

const detectorColumns: readonly DataColumn<DetectorRow>[] = [
  {
    id: 'detector',
    title: 'Detector',
    value: ({ detector }) => detector,
    render: ({ detector, noisy }) => (
      <>
        <SafeText text={detector} />
        {noisy ? <span className="watch-figure"> noisy</span> : null}
      </>
    ),
    width: 240,
  },
  { id: 'boundary', title: 'Boundary', value: ({ boundary }) => boundary, width: 90 },
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
    value: ({ acted_on }) => acted_on,
    render: ({ acted_on }) => formatCount(acted_on),
    width: 90,
    is_number: true,
  },
  {
    id: 'last',
    title: 'Last seen',
    value: ({ last_seen }) => last_seen,
    render: ({ last_seen }) => <Time at={last_seen} />,
    width: 120,
    is_wide_only: true,
  },
];

const allowlistColumns: readonly DataColumn<AllowlistRow>[] = [
  {
    id: 'reason',
    title: 'Reason',
    value: ({ reason }) => reason,
    render: ({ reason }) => <SafeText text={reason} />,
    width: 240,
  },
  {
    id: 'owner',
    title: 'Owner',
    value: ({ owner }) => owner,
    render: ({ owner }) => <SafeText text={owner} />,
    width: 120,
  },
  {
    id: 'expires',
    title: 'Expires',
    value: ({ expires }) => expires,
    render: ({ expires, expired }) => (
      <span className={expired ? 'bad-figure' : undefined}>
        <Time at={expires} />
      </span>
    ),
    width: 120,
  },
  { id: 'hits', title: 'Hits', value: ({ hits }) => hits, width: 80, is_number: true },
  {
    id: 'fingerprint',
    title: 'Fingerprint',
    value: ({ fingerprint }) => fingerprint,
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
      {error === null ? null : <ErrorNote error={error} />}
      {mayCall('detectionTry') ? <TryDetection /> : null}
      <Panel title="Detectors">
        <DataTable
          name="detectors"
          label="Detectors"
          columns={detectorColumns}
          rows={data?.detectors ?? NONE}
          rowKey={({ detector, boundary }) => `${detector} ${boundary}`}
          empty={
            <EmptyState title="Nothing was found in this period.">
              Detectors run on every text and every argument that agents send.
            </EmptyState>
          }
        />
      </Panel>
      <Panel title="Allowlist">
        <DataTable
          name="allowlist"
          label="Allowlist"
          columns={allowlistColumns}
          rows={data?.allowlist ?? NONE}
          rowKey={({ fingerprint }) => fingerprint}
          empty={
            <EmptyState title="No value is allowlisted.">
              A value is allowlisted by its keyed fingerprint, with a reason and an expiry; the value itself
              is never stored. See <code>detection.allowlist</code> in <code>service.yaml</code>.
            </EmptyState>
          }
        />
      </Panel>
    </div>
  );
}
