import type { Kysely, Transaction } from 'kysely';
import type { Log } from '../../platform/log.ts';
import type { Store, StoreTables } from '../../platform/store/index.ts';
import type { AuditIndex } from '../../runtime/audit/audit-index.ts';
import { type IndexPlace, type IndexReader, openIndexReader } from '../../runtime/audit/events/pages.ts';
import { findNewestAction } from '../../runtime/audit/shown-actions.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { OPEN_ALERT_STATUSES } from './alert-store.ts';
import { type ActiveRule, applySignals, type MatchedSignal, SERVICE_ACTOR } from './batch.ts';
import { type ConditionParts, evaluateConditions } from './conditions.ts';
import { endAlert } from './lifecycle.ts';
import { compileFilters } from './match.ts';
import { findQuietEnd } from './quiet-hours.ts';
import { isConditionSource, prepareAlertRule } from './rule.ts';
import { listAlertRules } from './rule-store.ts';
import { readSignal, type Signal } from './signal.ts';
import { listActiveSilences } from './silences.ts';
import type { AlertService, AlertSeverity } from './types.ts';

export interface EvaluatorParts {
  readonly store: () => Promise<Store>;
  readonly index: () => Promise<AuditIndex>;
  readonly service: AlertService;
  /** Names the events of one state folder, because several services may share a store. */
  readonly stream_id: string;
  /** Without a stored position, events from this time on are evaluated. Milliseconds since 1970. */
  readonly started_ms: number;
  readonly now_ms: () => number;
  readonly listDeclaredAgents: () => ReadonlySet<string>;
  readonly log: Pick<Log, 'warn'>;
  /** Finds conditions that are no events; `null` to evaluate events only. */
  readonly conditions: Pick<ConditionParts, 'findShortened'> | null;
  /** Counts alerts that fired, for metrics. */
  readonly onFired?: (severity: AlertSeverity) => void;
}

/** Evaluates the rules of a service. Only one process of a state folder opens it. */
export interface AlertEvaluator {
  /** Evaluates the next events. Returns `true` if more follow at once. Rejects if nothing was changed. */
  readonly evaluate: () => Promise<boolean>;
}

/** The number of events in one transaction. After a fault it falls, because a flood may take longer than a change may. */
const PAGE_EVENTS = 2_000;
const PAGE_EVENTS_MIN = 100;
/** The interval at which the position is stored if no rule matched, in milliseconds. */
const SAVE_MS = 10_000;
const CONDITIONS_MS = 5_000;

interface State {
  reader: IndexReader | null;
  /** The stored position as text; `null` if there is none. */
  stored: string | null;
  saved_ms: number;
  conditions_ms: number;
  page_events: number;
  /** Problems of rules that were logged. */
  readonly reported: Set<string>;
}

/** Opens the evaluation. A restart continues at the stored position, which changes together with alerts. */
export function openAlertEvaluator(parts: EvaluatorParts): AlertEvaluator {
  const state: State = {
    reader: null,
    stored: null,
    saved_ms: parts.now_ms(),
    conditions_ms: Number.NEGATIVE_INFINITY,
    page_events: PAGE_EVENTS,
    reported: new Set(),
  };
  return {
    evaluate: async () => {
      try {
        return await evaluateNext(parts, state);
      } catch (fault) {
        // The stored position is read again, because another process may have changed it.
        state.reader = null;
        state.page_events = Math.max(PAGE_EVENTS_MIN, Math.trunc(state.page_events / 4));
        throw fault;
      }
    },
  };
}

async function evaluateNext(parts: EvaluatorParts, state: State): Promise<boolean> {
  const store = await parts.store();
  state.reader ??= await openReader(store, parts, state);
  const rules = await loadRules(store.db, parts, state);
  const onEvents = rules.filter(({ rule }) => !isConditionSource(rule.source));
  const page = await state.reader.next({ limit: state.page_events, parse: onEvents.length > 0 });
  const matched = matchEvents(onEvents, page.events);
  const nowMs = parts.now_ms();
  if (matched.length > 0 || nowMs - state.saved_ms >= SAVE_MS)
    await applyPage(store, matched, page.place, parts, state);
  state.page_events = Math.min(PAGE_EVENTS, state.page_events * 2);
  if (page.has_more) return true;
  await endQuietAlerts(store, rules, parts);
  if (parts.conditions !== null && nowMs - state.conditions_ms >= CONDITIONS_MS) {
    state.conditions_ms = nowMs;
    await applyConditions(store, rules, parts, parts.conditions);
  }
  return false;
}

async function openReader(store: Store, parts: EvaluatorParts, state: State): Promise<IndexReader> {
  const row = await store.db
    .selectFrom('alert_positions')
    .select('position')
    .where('stream_id', '=', parts.stream_id)
    .executeTakeFirst();
  state.stored = row?.position ?? null;
  const start: IndexPlace =
    row === undefined
      ? { event_id: null, time_ms: parts.started_ms, seqs: {} }
      : (JSON.parse(row.position) as IndexPlace);
  return openIndexReader(await parts.index(), start);
}

/** Loads the rules that can be evaluated. A rule with a problem is logged once and does not affect the others. */
async function loadRules(
  db: Kysely<StoreTables>,
  { service, log }: EvaluatorParts,
  { reported }: State,
): Promise<readonly ActiveRule[]> {
  const rules = await listAlertRules(db, service);
  return rules.flatMap(({ rule, problem }) => {
    if (!rule.enabled) return [];
    if (problem === null) return [{ rule: prepareAlertRule(rule), matches: compileFilters(rule) }];
    const key = `${rule.rule_id} ${problem}`;
    if (!reported.has(key))
      log.warn('an alert rule cannot be used, and is not evaluated', { rule_id: rule.rule_id, problem });
    reported.add(key);
    return [];
  });
}

function matchEvents(rules: readonly ActiveRule[], events: readonly AuditEvent[]): readonly MatchedSignal[] {
  const bySource = Map.groupBy(rules, ({ rule }) => rule.source);
  return events.flatMap((event) => {
    const signal = readSignal(event);
    return signal.sources.flatMap((source) => matchSignal(bySource.get(source) ?? [], signal));
  });
}

function matchSignal(rules: readonly ActiveRule[], signal: Signal): readonly MatchedSignal[] {
  return rules.filter(({ matches }) => matches(signal)).map(({ rule }) => ({ rule, signal }));
}

/** Counts matched events and stores the position in one transaction. */
async function applyPage(
  store: Store,
  matched: readonly MatchedSignal[],
  place: IndexPlace,
  parts: EvaluatorParts,
  state: State,
): Promise<void> {
  const position = JSON.stringify(place);
  const index = await parts.index();
  const nowMs = parts.now_ms();
  const fired = await runLocked(store, async (trx) => {
    await movePosition(trx, parts.stream_id, state.stored, position, nowMs);
    const silences = await listActiveSilences(trx, nowMs);
    const declared = parts.listDeclaredAgents();
    const findAction = (ids: readonly string[]) => findNewestAction(index, ids);
    return applySignals(trx, matched, {
      service: parts.service,
      silences,
      declared,
      now_ms: nowMs,
      findAction,
    });
  });
  state.stored = position;
  state.saved_ms = nowMs;
  for (const severity of fired) parts.onFired?.(severity);
}

/** The row that all evaluations of a store lock, so that services that share it count together. */
const LOCK = 'lock';

async function runLocked<Result>(
  store: Store,
  work: (trx: Transaction<StoreTables>) => Promise<Result>,
): Promise<Result> {
  return store.transaction(async (trx) => {
    await trx
      .insertInto('alert_positions')
      .values({ stream_id: LOCK, position: '', changed_ms: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await trx
      .selectFrom('alert_positions')
      .select('stream_id')
      .where('stream_id', '=', LOCK)
      .forUpdate()
      .execute();
    return work(trx);
  });
}

/** Stores a position if no other process has moved it since it was read. */
async function movePosition(
  trx: Kysely<StoreTables>,
  streamId: string,
  before: string | null,
  position: string,
  changedMs: number,
): Promise<void> {
  if (before === null) {
    await trx
      .insertInto('alert_positions')
      .values({ stream_id: streamId, position, changed_ms: changedMs })
      .execute();
    return;
  }
  const moved = await trx
    .updateTable('alert_positions')
    .set({ position, changed_ms: changedMs })
    .where('stream_id', '=', streamId)
    .where('position', '=', before)
    .executeTakeFirst();
  if (moved.numUpdatedRows !== 1n)
    throw new Error('another process evaluates the alerts of this state folder');
}

/** The number of alerts that are ended in one transaction. */
const ENDED_MAX = 100;

/** Ends the alerts whose window is empty, and those of conditions whose rule is gone. */
async function endQuietAlerts(
  store: Store,
  rules: readonly ActiveRule[],
  { service, now_ms }: EvaluatorParts,
): Promise<void> {
  const active = new Map(rules.map(({ rule }) => [rule.rule_id, rule]));
  const rows = await store.db
    .selectFrom('alerts')
    .select(['alert_id', 'rule_id', 'source', 'last_ms', 'window_ms'])
    .where('status', 'in', OPEN_ALERT_STATUSES)
    .execute();
  const over = rows.filter(({ rule_id, source, last_ms, window_ms }) =>
    isConditionSource(source) ? !active.has(rule_id) : Number(last_ms) + Number(window_ms) <= now_ms(),
  );
  if (over.length === 0) return;
  await runLocked(store, async (trx) => {
    for (const { alert_id } of over.slice(0, ENDED_MAX)) {
      const found = trx.selectFrom('alerts').selectAll().where('alert_id', '=', alert_id);
      const row = await found.where('status', 'in', OPEN_ALERT_STATUSES).forUpdate().executeTakeFirst();
      if (row === undefined) continue;
      const by = { caller_id: SERVICE_ACTOR, now_ms: now_ms() };
      const quietEnd = findQuietEnd(active.get(row.rule_id)?.schedule, by.now_ms);
      await endAlert(trx, row, by, service, quietEnd);
    }
  });
}

async function applyConditions(
  store: Store,
  rules: readonly ActiveRule[],
  parts: EvaluatorParts,
  { findShortened }: NonNullable<EvaluatorParts['conditions']>,
): Promise<void> {
  const index = await parts.index();
  const { service, now_ms, listDeclaredAgents } = parts;
  const own = { findShortened, index, service, declared: listDeclaredAgents(), now_ms: now_ms() };
  const fired = await evaluateConditions(store, rules, { ...own, started_ms: parts.started_ms, runLocked });
  for (const severity of fired) parts.onFired?.(severity);
}
