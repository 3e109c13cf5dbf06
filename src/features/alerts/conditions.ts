import { createHash } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Store, StoreTables } from '../../platform/store/index.ts';
import type { AuditIndex } from '../../runtime/audit/audit-index.ts';
import type { ShortenedChain } from '../../runtime/audit/shortened-chains.ts';
import { findNewestAction } from '../../runtime/audit/shown-actions.ts';
import { OPEN_ALERT_STATUSES } from './alert-store.ts';
import { type ActiveRule, applySignals, buildGroupKey, buildOtherGroup, SERVICE_ACTOR } from './batch.ts';
import { endAlert } from './lifecycle.ts';
import { findQuietEnd } from './quiet-hours.ts';
import type { AlertRule } from './rule.ts';
import type { AlertSource } from './rule-schema.ts';
import { readGroup, type Signal } from './signal.ts';
import { listActiveSilences } from './silences.ts';
import type { AlertService, AlertSeverity } from './types.ts';

export interface ConditionParts {
  readonly index: AuditIndex;
  readonly service: Pick<AlertService, 'source' | 'console_url' | 'links'>;
  readonly now_ms: number;
  readonly started_ms: number;
  readonly declared: ReadonlySet<string>;
  /** Finds the audit chains that lack records. */
  readonly findShortened: () => Promise<readonly ShortenedChain[]>;
  readonly runLocked: <Result>(
    store: Store,
    work: (trx: Transaction<StoreTables>) => Promise<Result>,
  ) => Promise<Result>;
}

/**
 * Counts each condition once, when it begins, and ends the alerts whose conditions have ended.
 *
 * @returns the severities of the alerts that fired
 */
export async function evaluateConditions(
  store: Store,
  rules: readonly ActiveRule[],
  parts: ConditionParts,
): Promise<readonly AlertSeverity[]> {
  const fired: AlertSeverity[] = [];
  for (const { rule, matches } of rules) {
    const read = READERS[rule.source];
    if (read === undefined) continue;
    const found = await read(store.db, rule, parts);
    const signals = found.filter(matches);
    const fresh = takeUrgent(await listNew(store.db, rule, signals), parts.declared);
    const { is_condition } = rule;
    if (fresh.length === 0 && !(is_condition && (await hasOpenAlert(store.db, rule)))) continue;
    const severities = await parts.runLocked(store, async (trx) => {
      const added = await markSeen(trx, rule, fresh, parts.now_ms);
      const silences = await listActiveSilences(trx, parts.now_ms);
      const { service, declared, now_ms } = parts;
      const findAction = (ids: readonly string[]) => findNewestAction(parts.index, ids);
      const matched = added.map((signal) => ({ rule, signal }));
      const result = await applySignals(trx, matched, { service, silences, declared, now_ms, findAction });
      // A list that is full may lack conditions that hold.
      if (is_condition && found.length < READ_MAX) await endOver(trx, rule, signals, parts);
      return result;
    });
    fired.push(...severities);
  }
  return fired;
}

type Db = Kysely<StoreTables>;
type ReadConditions = (db: Db, rule: AlertRule, parts: ConditionParts) => Promise<readonly Signal[]>;

const READERS: Partial<Record<AlertSource, ReadConditions>> = {
  approvals_waiting: listWaitingApprovals,
  hooks_silent: listSilentHooks,
  chain_breaks: listBrokenChains,
  tools_changed: listNewTools,
};

/** The most conditions that count for one rule in one pass. */
const CONDITIONS_MAX = 1_000;
/** The most conditions that are read in one pass: twice the default of `approvals.pending_max`. */
const READ_MAX = 20_000;

/**
 * Returns the conditions that count in this pass: declared agents first, then all tenants in turn, so that many requests
 * by invented agents delay no other. The rest counts in the next passes.
 */
function takeUrgent(signals: readonly Signal[], declared: ReadonlySet<string>): readonly Signal[] {
  if (signals.length <= CONDITIONS_MAX) return signals;
  const byTenant = new Map<string | null, number>();
  const ranked = signals.map((signal) => {
    const turn = (byTenant.get(signal.tenant_id) ?? 0) + 1;
    byTenant.set(signal.tenant_id, turn);
    return { signal, turn: declared.has(signal.agent_id?.toLowerCase() ?? '') ? 0 : turn };
  });
  const sorted = ranked.sort((one, other) => one.turn - other.turn);
  return sorted.slice(0, CONDITIONS_MAX).map(({ signal }) => signal);
}

const EMPTY: Omit<Signal, 'id' | 'time_ms' | 'sources' | 'policy'> = {
  is_event: false,
  tenant_id: null,
  agent_id: null,
  tool: null,
  boundary: 'action',
  action: 'flag',
  session_id: null,
  request_id: null,
  tags: [],
  severity: 'high',
};

async function listWaitingApprovals(
  db: Db,
  rule: AlertRule,
  { now_ms }: ConditionParts,
): Promise<readonly Signal[]> {
  const rows = await db
    .selectFrom('approval_requests')
    .select([
      'request_id',
      'tenant_id',
      'agent_id',
      'tool_name',
      'session_id',
      'boundary',
      'rule',
      'data_tags',
    ])
    .where('status', '=', 'pending')
    .where('expires_ms', '>', now_ms)
    .where('requested_ms', '<=', now_ms - (rule.after_ms ?? 0))
    .orderBy('requested_ms')
    .limit(READ_MAX)
    .execute();
  return rows.map((row) => ({
    ...EMPTY,
    id: row.request_id,
    time_ms: now_ms,
    sources: ['approvals_waiting'],
    tenant_id: row.tenant_id,
    agent_id: row.agent_id,
    tool: row.tool_name,
    policy: row.rule,
    boundary: row.boundary,
    action: 'require_approval',
    session_id: row.session_id,
    request_id: row.request_id,
    tags: JSON.parse(row.data_tags) as string[],
    severity: 'medium',
  }));
}

/** An agent counts as silent for this long after its last event; then it is gone. */
const GONE_MS = 28 * 86_400_000;

/** Lists the agents with sessions that sent no event for the rule's time; those that became silent last come first. */
async function listSilentHooks(
  _db: Db,
  { after_ms }: AlertRule,
  { index, now_ms }: ConditionParts,
): Promise<readonly Signal[]> {
  const rows = await index.db
    .selectFrom('audit_sessions')
    .select(['tenant_id', 'agent_id', sql<number>`max(last_ms)`.as('last_ms')])
    .where('last_ms', '>', now_ms - GONE_MS)
    .groupBy(['tenant_id', 'agent_id'])
    .having(sql<number>`max(last_ms)`, '<=', now_ms - (after_ms ?? 0))
    .orderBy('last_ms', 'desc')
    .orderBy('tenant_id')
    .orderBy('agent_id')
    .limit(READ_MAX)
    .execute();
  return rows.map(({ tenant_id, agent_id, last_ms }) => ({
    ...EMPTY,
    id: `${tenant_id} ${agent_id} ${last_ms}`,
    time_ms: now_ms,
    sources: ['hooks_silent'],
    tenant_id,
    agent_id,
    policy: 'service.hook_silent',
    severity: 'medium',
  }));
}

async function listBrokenChains(
  _db: Db,
  _rule: AlertRule,
  { findShortened, now_ms }: ConditionParts,
): Promise<readonly Signal[]> {
  return (await findShortened()).map(({ writer, remembered_seq }) => ({
    ...EMPTY,
    id: `${writer} ${remembered_seq}`,
    time_ms: now_ms,
    sources: ['chain_breaks'],
    policy: 'service.chain_break',
    severity: 'critical',
  }));
}

/** A tool that was listed longer ago is not new. */
const NEW_TOOL_MS = 3_600_000;

/** Lists the tools that were seen for the first time, newest first. Changed ones are events. */
async function listNewTools(
  db: Db,
  _rule: AlertRule,
  { now_ms, started_ms }: ConditionParts,
): Promise<readonly Signal[]> {
  const rows = await db
    .selectFrom('mcp_pins')
    .select(['tenant_id', 'server', 'user_id', 'tool', 'first_seen_ms'])
    .where('first_seen_ms', '>=', Math.max(started_ms, now_ms - NEW_TOOL_MS))
    .where('pinned_sha256', 'is not', null)
    .orderBy('first_seen_ms', 'desc')
    .orderBy('tenant_id')
    .orderBy('server')
    .orderBy('user_id')
    .orderBy('tool')
    .limit(READ_MAX)
    .execute();
  return rows.map(({ tenant_id, server, user_id, tool, first_seen_ms }) => ({
    ...EMPTY,
    id: JSON.stringify([tenant_id, server, user_id, tool, Number(first_seen_ms)]),
    time_ms: Number(first_seen_ms),
    sources: ['tools_changed'],
    tenant_id,
    tool,
    policy: 'service.mcp_tool_new',
    severity: 'medium',
  }));
}

function hashSignal({ rule_id }: AlertRule, { id }: Signal): string {
  return createHash('sha256').update(`${rule_id}\n${id}`).digest('hex').slice(0, 32);
}

async function listNew(db: Db, rule: AlertRule, signals: readonly Signal[]): Promise<readonly Signal[]> {
  if (signals.length === 0) return [];
  const ids = signals.map((signal) => hashSignal(rule, signal));
  const known = new Set<string>();
  for (let at = 0; at < ids.length; at += CONDITIONS_MAX) {
    const some = ids.slice(at, at + CONDITIONS_MAX);
    const rows = db.selectFrom('alert_signals').select('signal_id').where('signal_id', 'in', some);
    for (const { signal_id } of await rows.execute()) known.add(signal_id);
  }
  return signals.filter((_signal, at) => !known.has(ids[at]!));
}

/** Stores that conditions were counted. Returns those that no other process has counted meanwhile. */
async function markSeen(
  trx: Db,
  rule: AlertRule,
  signals: readonly Signal[],
  seenMs: number,
): Promise<readonly Signal[]> {
  const added: Signal[] = [];
  for (const signal of signals) {
    const row = { signal_id: hashSignal(rule, signal), rule_id: rule.rule_id, seen_ms: seenMs };
    const insert = trx.insertInto('alert_signals').values(row);
    const result = await insert.onConflict((conflict) => conflict.doNothing()).executeTakeFirst();
    if ((result.numInsertedOrUpdatedRows ?? 0n) > 0n) added.push(signal);
  }
  return added;
}

async function hasOpenAlert(db: Db, { rule_id }: AlertRule): Promise<boolean> {
  const found = db.selectFrom('alerts').select('alert_id').where('rule_id', '=', rule_id);
  const row = await found.where('status', 'in', OPEN_ALERT_STATUSES).limit(1).executeTakeFirst();
  return row !== undefined;
}

/** Ends the alerts of a rule for which no condition of their group holds any more. */
async function endOver(
  trx: Db,
  rule: AlertRule,
  signals: readonly Signal[],
  { service, now_ms }: ConditionParts,
): Promise<void> {
  const current = new Set(
    signals.map((signal) => buildGroupKey(rule.rule_id, readGroup(rule.groups, signal))),
  );
  const rows = await trx
    .selectFrom('alerts')
    .selectAll()
    .where('rule_id', '=', rule.rule_id)
    .where('status', 'in', OPEN_ALERT_STATUSES)
    .forUpdate()
    .execute();
  const open = new Set(rows.map(({ group_key }) => group_key));
  // Groups without an alert may count in the group for the others.
  if ([...current].some((key) => !open.has(key))) current.add(buildOtherGroup(rule).key);
  const by = { caller_id: SERVICE_ACTOR, now_ms };
  for (const row of rows)
    if (!current.has(row.group_key))
      await endAlert(trx, row, by, service, findQuietEnd(rule.schedule, now_ms));
}
