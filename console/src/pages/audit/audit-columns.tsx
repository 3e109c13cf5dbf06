import type { DataColumn } from '../../components/data-column.ts';
import { type ConsoleEvent, eventColumns, eventFilters } from '../../components/event-columns.tsx';
import type { FilterField } from '../../components/filter-chips.tsx';
import { SafeText } from '../../components/safe-text.tsx';
import { Time } from '../../components/time.tsx';

/** The columns of activity that come first here, in this order. */
const LEADING = ['action', 'agent', 'tool', 'rule'];
const TRAILING = ['boundary', 'reason', 'tags', 'session', 'tenant'];

const pick = (ids: readonly string[]) => eventColumns.filter(({ id }) => ids.includes(id));

/** The columns of the audit log: those of activity, and the fields that only an auditor needs. */
export const auditColumns: readonly DataColumn<ConsoleEvent>[] = [
  {
    id: 'time',
    title: 'Time',
    value: ({ timestamp }) => timestamp,
    render: ({ timestamp }) => <Time at={timestamp} form="clock" />,
    width: 105,
  },
  ...pick(LEADING),
  {
    id: 'caller',
    title: 'Caller',
    value: ({ caller_id }) => caller_id,
    width: 120,
    is_wide_only: true,
  },
  {
    id: 'phase',
    title: 'Phase',
    value: readPhase,
    render: (event) => <SafeText text={readPhase(event)} />,
    width: 95,
    is_wide_only: true,
  },
  { id: 'coverage', title: 'Coverage', width: 85, is_wide_only: true },
  {
    id: 'policy_hash',
    title: 'Policy',
    render: ({ policy_hash }) => <ShortHash hash={policy_hash} />,
    width: 125,
    is_wide_only: true,
  },
  {
    id: 'event',
    title: 'Event',
    value: ({ event_id }) => event_id,
    render: ({ event_id }) => <code>{event_id}</code>,
    width: 250,
    is_wide_only: true,
  },
  ...pick(TRAILING).map((column) => ({ ...column, is_extra: true })),
  {
    id: 'metadata',
    title: 'Metadata',
    value: ({ metadata }) => JSON.stringify(metadata),
    width: 260,
    is_extra: true,
    is_wide_only: true,
  },
];

function readPhase({ metadata }: ConsoleEvent): string {
  const { phase } = metadata as { readonly phase?: unknown };
  return typeof phase === 'string' ? phase : '';
}

function ShortHash({ hash }: { readonly hash: string }) {
  return <code title={hash}>{hash.replace(/^sha256:/, '').slice(0, 12)}</code>;
}

/** All filters of an audit query. */
export const auditFilters: readonly FilterField[] = [
  ...eventFilters,
  { name: 'event_id', label: 'Event' },
  { name: 'source_agent_id', label: 'Source agent' },
  { name: 'destination_agent_id', label: 'Destination' },
  { name: 'metadata_key', label: 'Metadata key' },
  { name: 'metadata_value', label: 'Metadata value' },
];
