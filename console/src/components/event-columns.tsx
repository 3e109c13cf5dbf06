import { Link } from '@tanstack/react-router';
import type { OperationOutput } from '../api/client.ts';
import { ACTION_NAMES, BOUNDARY_NAMES, DECISION_NAMES } from '../api/names.ts';
import { Tags } from './badge.tsx';
import type { DataColumn } from './data-column.ts';
import type { FilterField } from './filter-chips.tsx';
import { SafeText } from './safe-text.tsx';
import { Time } from './time.tsx';

/** An audit event, as every route of the console returns it. */
export type ConsoleEvent = OperationOutput<'dashboardEventsQuery'>['events'][number];

/** The columns of every table of events. */
export const eventColumns: readonly DataColumn<ConsoleEvent>[] = [
  {
    id: 'time',
    title: 'Time',
    value: ({ timestamp }) => timestamp,
    render: ({ timestamp, event_id }) => (
      <Link to="/incidents/$event_id" params={{ event_id }} search={{}} className="plain-link">
        <Time at={timestamp} form="clock" />
      </Link>
    ),
    // Wide enough for the day, which is shown when it is not today.
    width: 152,
  },
  {
    id: 'action',
    title: 'Action',
    form: 'badge',
    width: 150,
  },
  {
    id: 'agent',
    title: 'Agent',
    value: getActor,
    render: (event) => <Actor event={event} />,
    width: 140,
  },
  {
    id: 'tool',
    title: 'Tool',
    value: ({ tool_name }) => tool_name,
    width: 125,
  },
  { id: 'boundary', title: 'Boundary', width: 80, is_wide_only: true },
  {
    id: 'rule',
    title: 'Rule',
    value: ({ policy_name }) => policy_name,
    width: 152,
    is_wide_only: true,
  },
  {
    id: 'reason',
    title: 'Reason',
    width: 180,
    is_wide_only: true,
  },
  {
    id: 'tags',
    title: 'Data tags',
    value: ({ data_tags }) => data_tags.join(' '),
    render: ({ data_tags }) => <Tags tags={data_tags} max={1} />,
    width: 185,
    is_wide_only: true,
  },
  {
    id: 'session',
    title: 'Session',
    value: ({ session_id }) => session_id,
    render: ({ session_id }) => <SessionLink session_id={session_id} />,
    width: 120,
    is_wide_only: true,
    is_extra: true,
  },
  {
    id: 'tenant',
    title: 'Tenant',
    value: ({ tenant_id }) => tenant_id,
    width: 100,
    is_wide_only: true,
    is_extra: true,
  },
  {
    id: 'caller',
    title: 'Caller',
    value: ({ caller_id }) => caller_id,
    width: 120,
    is_extra: true,
    is_wide_only: true,
  },
  {
    id: 'event',
    title: 'Event',
    value: ({ event_id }) => event_id,
    width: 260,
    is_extra: true,
    is_wide_only: true,
  },
];

/** Returns who acted. An event of a user, such as a sign-in, has no agent. */
function getActor({ agent_id, caller_id, policy_name }: ConsoleEvent): string {
  return agent_id === 'unknown' && policy_name.startsWith('service.') ? (caller_id ?? agent_id) : agent_id;
}

function Actor({ event }: { readonly event: ConsoleEvent }) {
  const actor = getActor(event);
  if (actor === event.agent_id) return <SafeText text={actor} />;
  return (
    <span className="muted">
      <SafeText text={actor.replace(/^user:/, 'user ')} />
    </span>
  );
}

/** The filters of every table of events, by the names of the query. */
export const eventFilters: readonly FilterField[] = [
  { name: 'action', label: 'Action', options: ACTION_NAMES },
  { name: 'decision', label: 'Decision', options: DECISION_NAMES },
  { name: 'boundary', label: 'Boundary', options: BOUNDARY_NAMES },
  { name: 'agent_id', label: 'Agent' },
  { name: 'tool_name', label: 'Tool' },
  { name: 'policy_name', label: 'Rule' },
  { name: 'data_tag', label: 'Data tag' },
  { name: 'session_id', label: 'Session' },
  { name: 'tenant_id', label: 'Tenant' },
  { name: 'caller_id', label: 'Caller' },
  { name: 'user_id', label: 'User' },
  { name: 'phase', label: 'Phase', options: ['request', 'response'] },
  { name: 'monitored', label: 'Monitored rule' },
  { name: 'since', label: 'Since' },
  { name: 'until', label: 'Until' },
];

function SessionLink({ session_id }: { readonly session_id: string | null }) {
  if (session_id === null) return <span className="muted">–</span>;
  return (
    <Link to="/sessions/$session_id" params={{ session_id }} search={{}}>
      <SafeText text={session_id} />
    </Link>
  );
}
