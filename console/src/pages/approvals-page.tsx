import { useState } from 'react';
import { useMayCall } from '../api/session.ts';
import { useOperation, useOperationCall } from '../api/use-operation.ts';
import { ApprovalCard, type ApprovalRequest } from '../components/approval-card.tsx';
import { useNotificationChoice } from '../components/approval-notice.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import type { DataColumn } from '../components/data-column.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { FilterChips, useAddressQuery } from '../components/filter-chips.tsx';
import { NoteField } from '../components/note-field.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ExportMenu } from '../components/table-menu.tsx';
import { GrantsPanel } from './approvals/grants-panel.tsx';

const REFRESH_MS = 3_000;
const LIMIT = 200;
const BULK_MAX = 100;
const STATUSES = ['pending', 'approved', 'denied', 'expired', 'cancelled', 'consumed'] as const;
const FILTERS = [
  { name: 'agent_id', label: 'Agent' },
  { name: 'tool', label: 'Tool' },
  { name: 'tenant_id', label: 'Tenant' },
];

const SORTS = [
  ['', 'Newest first'],
  ['expires', 'Least time left first'],
  ['agent', 'By agent'],
  ['tool', 'By tool'],
] as const;
type SortName = (typeof SORTS)[number][0];

const EXPORTED: readonly DataColumn<ApprovalRequest>[] = (
  [
    'request_id',
    'status',
    'requested_at',
    'expires_at',
    'agent_id',
    'tool',
    'tenant_id',
    'session_id',
    'rule',
    'reason',
    'decided_at',
    'decided_by',
  ] as const
).map((id) => ({ id, title: id, value: (request) => request[id] ?? null }));

function sortRequests(requests: readonly ApprovalRequest[], sort: SortName): readonly ApprovalRequest[] {
  if (sort === '') return requests;
  const read = ({ expires_at, agent_id, tool }: ApprovalRequest) =>
    ({ expires: expires_at, agent: agent_id, tool: tool ?? '' })[sort];
  return requests.toSorted((a, b) => read(a).localeCompare(read(b)));
}

interface SortSelectProps {
  readonly value: SortName;
  readonly onChange: (value: string) => void;
}

function SortSelect({ value, onChange }: SortSelectProps) {
  return (
    <select
      className="select small"
      aria-label="Order"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {SORTS.map(([each, label]) => (
        <option key={each} value={each}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** Shows the calls that wait for an approver, and decides on them. */
export function ApprovalsPage() {
  const [query, change] = useAddressQuery();
  const status = STATUSES.find((each) => each === query.status) ?? 'pending';
  const filter = Object.fromEntries(
    FILTERS.flatMap(({ name }) => (query[name] === undefined ? [] : [[name, query[name]]])),
  );
  const { data, error } = useOperation(
    'dashboardApprovals',
    { status, limit: LIMIT, ...filter },
    { refresh_ms: REFRESH_MS },
  );
  const requests = data?.approvals;
  const sort = SORTS.find(([each]) => each === query.sort)?.[0] ?? '';
  return (
    <div className="page-body">
      <PageHeader
        title="Approvals"
        lead="Calls that wait until an approver decides. A call without a decision expires and stays blocked."
      >
        <NotificationButton />
        <select
          className="select"
          aria-label="Status"
          value={status}
          onChange={(event) => change({ status: event.currentTarget.value })}
        >
          {STATUSES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </PageHeader>
      <ErrorNote error={error} />
      <div className="table-bar">
        <FilterChips fields={FILTERS} />
        {requests === undefined || requests.length === 0 ? null : (
          <>
            <SortSelect value={sort} onChange={(value) => change({ sort: value })} />
            <ExportMenu name="approvals" columns={EXPORTED} rows={requests} />
          </>
        )}
      </div>
      {requests === undefined ? (
        <p role="status">Loading …</p>
      ) : requests.length === 0 ? (
        <NoRequests status={status} />
      ) : (
        <Queue requests={sortRequests(requests, sort)} />
      )}
      <GrantsPanel />
    </div>
  );
}

function Queue({ requests }: { readonly requests: readonly ApprovalRequest[] }) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const mayDeny = useMayCall()('dashboardApprovalsDenyMany');
  const present = chosen.filter((id) =>
    requests.some((each) => each.request_id === id && each.status === 'pending'),
  );
  const pending = requests.filter(({ status }) => status === 'pending').slice(0, BULK_MAX);
  const toggle = (id: string) =>
    setChosen(present.includes(id) ? present.filter((each) => each !== id) : [...present, id]);
  return (
    <>
      {mayDeny && pending.length > 1 ? (
        <BulkBar present={present} pending={pending} onChoose={setChosen} />
      ) : null}
      <ul className="queue" aria-label="Approval requests">
        {requests.map((each) => (
          <li key={each.request_id}>
            <ApprovalCard
              request={each}
              {...(mayDeny && each.status === 'pending' && requests.length > 1
                ? { is_chosen: present.includes(each.request_id), onChoose: () => toggle(each.request_id) }
                : {})}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

interface BulkBarProps {
  readonly present: readonly string[];
  readonly pending: readonly ApprovalRequest[];
  readonly onChoose: (ids: readonly string[]) => void;
}

function BulkBar({ present, pending, onChoose }: BulkBarProps) {
  const [isAsking, setAsking] = useState(false);
  const [note, setNote] = useState('');
  const deny = useOperationCall('dashboardApprovalsDenyMany', ['dashboardApprovals', 'dashboardOverview']);
  const failed = deny.data?.failed ?? [];
  return (
    <div className="table-bar">
      <label className="check">
        <input
          type="checkbox"
          checked={present.length === pending.length}
          onChange={() =>
            onChoose(present.length === pending.length ? [] : pending.map(({ request_id }) => request_id))
          }
        />
        {present.length === 0 ? 'Select all' : `${present.length} selected`}
      </label>
      <Button look="danger" is_small disabled={present.length === 0} onClick={() => setAsking(true)}>
        Deny selected …
      </Button>
      {failed.length === 0 ? null : (
        <span className="muted" role="status">
          {failed.length} could not be denied: {failed[0]?.error}
        </span>
      )}
      {isAsking ? (
        <ConfirmDialog
          title={`Deny ${present.length} requests?`}
          action={`Deny ${present.length} requests`}
          is_dangerous
          is_busy={deny.isPending}
          error={deny.error}
          onClose={() => setAsking(false)}
          onConfirm={() =>
            deny.mutate(
              { request_ids: [...present], note: note === '' ? null : note },
              {
                onSuccess: () => {
                  setAsking(false);
                  setNote('');
                  onChoose([]);
                },
              },
            )
          }
        >
          <p>Each agent gets a denial with this note, and its call stays blocked.</p>
          <NoteField value={note} onChange={setNote} />
        </ConfirmDialog>
      ) : null}
    </div>
  );
}

function NoRequests({ status }: { readonly status: string }) {
  if (status !== 'pending') return <EmptyState title={`No request is ${status}.`} />;
  return (
    <EmptyState title="Nothing waits for an approver." command="customshouse approvals list --json">
      A request appears here when a rule with <code>action: require_approval</code> matches a call. In a
      terminal, the same list is:
    </EmptyState>
  );
}

function NotificationButton() {
  const [isOn, toggle] = useNotificationChoice();
  if (!('Notification' in window)) return null;
  return (
    <Button look="quiet" aria-pressed={isOn} onClick={() => void toggle()}>
      {isOn ? 'Notifications are on' : 'Notify me of new requests'}
    </Button>
  );
}
