import { sql } from 'kysely';
import type { AuditIndex } from './audit-index.ts';
import { APPROVAL_MARK } from './count-types.ts';
import { isSelfTestEvent } from './self-test.ts';
import type { AuditEvent } from './types.ts';
import type { ApprovalHistory, EventWindow } from './window-types.ts';

const READ_ROWS = 2_000;

type MutableHistory = { -readonly [Key in keyof ApprovalHistory]: ApprovalHistory[Key] };

/**
 * Lists the approval requests that were made in a window, from the events about them. Reads the events of the rules that
 * asked for an approval, and no others.
 */
export async function listApprovalHistories(
  index: AuditIndex,
  window: EventWindow,
): Promise<ApprovalHistory[]> {
  const requests = new Map<string, MutableHistory>();
  for (const rule of await listApprovalRules(index, window))
    for await (const event of readApprovalEvents(index, window, rule)) addEvent(requests, event);
  return [...requests.values()].toSorted(
    (a, b) => a.requested_ms - b.requested_ms || (a.request_id < b.request_id ? -1 : 1),
  );
}

async function listApprovalRules(
  index: AuditIndex,
  { since_ms, until_ms }: EventWindow,
): Promise<readonly string[]> {
  const DAY_MS = 86_400_000;
  const rows = await index.db
    .selectFrom('audit_counts')
    .select('value')
    .distinct()
    .where('width_ms', '=', DAY_MS)
    .where('field', '=', 'rule')
    .where('bucket_ms', '>', since_ms - DAY_MS)
    .where('bucket_ms', '<', until_ms)
    .where('value', 'like', `${APPROVAL_MARK}%`)
    .orderBy('value')
    .execute();
  return rows.map(({ value }) => value.replace(APPROVAL_MARK, ''));
}

async function* readApprovalEvents(
  index: AuditIndex,
  { since_ms, until_ms, tenants, agents }: EventWindow,
  rule: string,
): AsyncGenerator<AuditEvent> {
  let after = { timestamp_ms: since_ms - 1, seq: 0, event_id: '' };
  for (;;) {
    let query = index.db
      .selectFrom('audit_events')
      .select(['timestamp_ms', 'seq', 'event_id', 'event'])
      .where('policy_name', '=', rule)
      .where(sql<boolean>`policy_name != 'default.allow'`)
      .where('phase', 'like', 'approval%')
      .where('timestamp_ms', '<', until_ms)
      .where((eb) =>
        eb(
          eb.refTuple('timestamp_ms', 'seq', 'event_id'),
          '>',
          eb.tuple(after.timestamp_ms, after.seq, after.event_id),
        ),
      );
    if (tenants !== '*') query = query.where('tenant_id', 'in', tenants);
    if (agents !== '*') query = query.where('agent_id', 'in', agents);
    const rows = await query
      .orderBy('timestamp_ms')
      .orderBy('seq')
      .orderBy('event_id')
      .limit(READ_ROWS)
      .execute();
    for (const { event } of rows) yield JSON.parse(event) as AuditEvent;
    const last = rows.at(-1);
    if (last === undefined || rows.length < READ_ROWS) return;
    after = last;
  }
}

function addEvent(requests: Map<string, MutableHistory>, event: AuditEvent): void {
  const { approval_request_id, approval_status, phase } = event.metadata;
  if (typeof approval_request_id !== 'string' || typeof approval_status !== 'string') return;
  if (isSelfTestEvent(event)) return;
  const ms = Date.parse(event.timestamp);
  if (phase === 'approval_pending') {
    const request = {
      request_id: approval_request_id,
      requested_ms: ms,
      status: 'pending',
      decided_ms: null,
    };
    if (!requests.has(approval_request_id)) requests.set(approval_request_id, request);
    return;
  }
  const request = requests.get(approval_request_id);
  if (request === undefined) return;
  request.status = approval_status;
  if (phase === 'approval_approved' || phase === 'approval_denied') request.decided_ms = ms;
}
