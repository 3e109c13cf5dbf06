import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';
import type { ShownActionRow } from '../../runtime/audit/shown-actions.ts';
import { type AlertRow, createAlertId, OPEN_ALERT_STATUSES } from './alert-store.ts';
import {
  type CountedGroup,
  countSignal,
  type OpenAlert,
  readCount,
  startCount,
  writeCount,
} from './counting.ts';
import { endAlert } from './lifecycle.ts';
import { enqueueAlert } from './message.ts';
import { findQuietEnd } from './quiet-hours.ts';
import type { AlertRule } from './rule.ts';
import { readGroup, type Signal } from './signal.ts';
import { type ActiveSilence, findSilence } from './silences.ts';
import type { AlertService, AlertSeverity } from './types.ts';

type Db = Kysely<StoreTables>;

/** A rule that is evaluated. */
export interface ActiveRule {
  readonly rule: AlertRule;
  readonly matches: (signal: Signal) => boolean;
}

/** A signal that a rule counts. */
export interface MatchedSignal {
  readonly rule: AlertRule;
  readonly signal: Signal;
}

export interface BatchParts {
  readonly service: Pick<AlertService, 'source' | 'console_url' | 'links'>;
  readonly silences: readonly ActiveSilence[];
  /** The agents that the policy or a key names, in lower case. Callers can invent any other name. */
  readonly declared: ReadonlySet<string>;
  readonly now_ms: number;
  /** Finds the call to show in the first message of an alert. */
  readonly findAction: (eventIds: readonly string[]) => Promise<ShownActionRow | null>;
}

/** The author of a change that no person caused. */
export const SERVICE_ACTOR = 'service';
/** The number of groups of one rule that count apart, for declared agents and for others each. */
export const GROUPS_MAX = 1_000;
const OTHER_GROUPS = '(other)';

/** An open alert with its row. */
interface StoredAlert extends OpenAlert {
  readonly row: AlertRow;
  is_changed: boolean;
}

interface Group extends CountedGroup<StoredAlert> {
  readonly key: string;
  readonly values: Readonly<Record<string, string>>;
  readonly rule: AlertRule;
  readonly is_declared: boolean;
}

/**
 * Counts signals and writes the result: groups, alerts and their messages, all in one transaction.
 *
 * @returns the severities of the alerts that fired
 */
export async function applySignals(
  trx: Db,
  matched: readonly MatchedSignal[],
  parts: BatchParts,
): Promise<readonly AlertSeverity[]> {
  const keyed = await limitGroups(trx, matched.map(buildKeyedSignal), parts.declared);
  const groups = await loadGroups(trx, keyed);
  const fired: AlertSeverity[] = [];
  for (const { key, signal, rule } of keyed) {
    const group = groups.get(key)!;
    const step = countSignal(rule, group, signal);
    if (step.ended !== null) await endStored(trx, step.ended, rule, parts);
    if (step.fired !== null) {
      group.open = await fireAlert(trx, group, step.fired, parts);
      fired.push(rule.severity);
    } else if (group.open !== null) {
      group.open.is_changed = true;
      await endSilence(trx, group.open, rule, parts);
    }
  }
  for (const { open } of groups.values()) if (open?.is_changed) await saveAlert(trx, open);
  await saveGroups(trx, [...groups.values()]);
  return fired;
}

interface KeyedSignal extends MatchedSignal {
  readonly key: string;
  readonly is_declared: boolean;
  readonly values: Readonly<Record<string, string>>;
}

function buildKeyedSignal({ rule, signal }: MatchedSignal): Omit<KeyedSignal, 'is_declared'> {
  const values = readGroup(rule.groups, signal);
  return { rule, signal, values, key: buildGroupKey(rule.rule_id, values) };
}

/** Returns the key of a group: a hash, because the values may be long. */
export function buildGroupKey(ruleId: string, values: Readonly<Record<string, string>>): string {
  return createHash('sha256')
    .update(JSON.stringify([ruleId, ...Object.entries(values).flat()]))
    .digest('hex')
    .slice(0, 32);
}

/** Moves the signals of new groups to one group if the rule has too many. Groups of declared agents come first. */
async function limitGroups(
  trx: Db,
  keyed: readonly Omit<KeyedSignal, 'is_declared'>[],
  declared: ReadonlySet<string>,
): Promise<readonly KeyedSignal[]> {
  const own = new Set(
    keyed.filter(({ signal }) => declared.has(signal.agent_id?.toLowerCase() ?? '')).map(({ key }) => key),
  );
  const marked = keyed.map((each) => ({ ...each, is_declared: own.has(each.key) }));
  const moved = new Set<string>();
  for (const some of Map.groupBy(marked, (each) => each.rule).values())
    for (const part of Map.groupBy(some, (each) => each.is_declared).values())
      for (const key of await listExcessKeys(trx, part)) moved.add(key);
  return marked.map((each) => (moved.has(each.key) ? moveToOthers(each) : each));
}

/** Lists the new groups of one rule that are too many. All are of declared agents, or none is. */
async function listExcessKeys(trx: Db, keyed: readonly KeyedSignal[]): Promise<readonly string[]> {
  const { rule, is_declared } = keyed[0]!;
  if (rule.groups.length === 0) return [];
  const keys = new Set(keyed.map(({ key }) => key));
  const sinceMs = Math.min(...keyed.map(({ signal }) => signal.time_ms)) - keepMs(rule);
  const live = trx.selectFrom('alert_groups').where('rule_id', '=', rule.rule_id);
  const { count } = await live
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('is_declared', '=', Number(is_declared))
    .where('last_ms', '>', sinceMs)
    .executeTakeFirstOrThrow();
  if (Number(count) + keys.size <= GROUPS_MAX) return [];
  const known = new Set((await live.select('group_key').execute()).map(({ group_key }) => group_key));
  return [...keys].filter((key) => !known.has(key)).slice(Math.max(0, GROUPS_MAX - Number(count)));
}

/** A caller may take the name of the group as well, and then counts in it. */
function isOthers({ groups }: AlertRule, values: Readonly<Record<string, string>>): boolean {
  return groups.length > 0 && groups.every((field) => values[field] === OTHER_GROUPS);
}

function moveToOthers(each: KeyedSignal): KeyedSignal {
  return { ...each, ...buildOtherGroup(each.rule) };
}

/** Returns the group that counts the values over the group limit. */
export function buildOtherGroup({ rule_id, groups }: AlertRule): Pick<KeyedSignal, 'key' | 'values'> {
  const values = Object.fromEntries(groups.map((field) => [field, OTHER_GROUPS]));
  return { values, key: buildGroupKey(rule_id, values) };
}

/** Returns how long a group without signals is kept, in milliseconds. */
function keepMs({ window_ms, cooldown_ms }: AlertRule): number {
  return Math.max(window_ms, cooldown_ms);
}

const CHUNK = 200;

function* getChunks<Each>(list: readonly Each[]): Generator<readonly Each[]> {
  for (let at = 0; at < list.length; at += CHUNK) yield list.slice(at, at + CHUNK);
}

async function loadGroups(trx: Db, keyed: readonly KeyedSignal[]): Promise<ReadonlyMap<string, Group>> {
  const groups = new Map<string, Group>();
  for (const { key, values, rule, is_declared } of keyed)
    if (!groups.has(key)) {
      const group = { key, values, rule, is_declared, is_others: isOthers(rule, values) };
      groups.set(key, { ...group, count: startCount(), open: null });
    }
  for (const keys of getChunks([...groups.keys()])) {
    const states = await trx
      .selectFrom('alert_groups')
      .select(['group_key', 'state'])
      .where('group_key', 'in', keys)
      .execute();
    for (const { group_key, state } of states) groups.get(group_key)!.count = readCount(state);
    const open = await trx
      .selectFrom('alerts')
      .selectAll()
      .where('group_key', 'in', keys)
      .where('status', 'in', OPEN_ALERT_STATUSES)
      .forUpdate()
      .execute();
    for (const row of open) groups.get(row.group_key)!.open = readStored(row);
  }
  return groups;
}

function readStored(row: AlertRow): StoredAlert {
  return {
    row,
    is_changed: false,
    status: row.status,
    event_count: row.event_count,
    first_ms: row.first_ms,
    last_ms: row.last_ms,
    sample_event_ids: JSON.parse(row.sample_event_ids),
    tenant_ids: JSON.parse(row.tenant_ids),
  };
}

/** Returns the row of an alert with what was counted since it was read. */
function getRow(alert: StoredAlert): AlertRow {
  return {
    ...alert.row,
    status: alert.status,
    event_count: alert.event_count,
    last_ms: alert.last_ms,
    sample_event_ids: JSON.stringify(alert.sample_event_ids),
    tenant_ids: JSON.stringify(alert.tenant_ids),
  };
}

async function fireAlert(
  trx: Db,
  { key, values, rule }: Group,
  alert: OpenAlert,
  parts: BatchParts,
): Promise<StoredAlert> {
  const { now_ms } = parts;
  const silence = findSilence(parts.silences, { ...alert, ...rule, group: values });
  const alertId = createAlertId(now_ms);
  const row: AlertRow = {
    alert_id: alertId,
    rule_id: rule.rule_id,
    rule_name: rule.name,
    severity: rule.severity,
    status: silence === null ? 'firing' : 'silenced',
    source: rule.source,
    group_key: key,
    group_values: JSON.stringify(values),
    event_count: alert.event_count,
    threshold: rule.threshold,
    window_ms: rule.window_ms,
    fired_ms: now_ms,
    first_ms: alert.first_ms,
    last_ms: alert.last_ms,
    sample_event_ids: JSON.stringify(alert.sample_event_ids),
    tenant_ids: JSON.stringify(alert.tenant_ids),
    dedup_key: `${rule.rule_id}:${key.slice(0, 16)}:${alertId.slice(4)}`,
    channels: JSON.stringify(rule.channels),
    acknowledged_by: null,
    acknowledged_ms: null,
    resolved_by: null,
    resolved_ms: null,
    silence_id: silence?.silence_id ?? null,
  };
  await trx.insertInto('alerts').values(row).execute();
  await saveTenants(trx, alertId, alert.tenant_ids);
  if (silence === null) await notifyChannels(trx, row, rule, parts);
  return { ...readStored(row) };
}

/** Queues the first message of an alert. In quiet hours it waits until they end. */
async function notifyChannels(
  trx: Db,
  row: AlertRow,
  rule: Pick<AlertRule, 'schedule'>,
  { service, now_ms, findAction }: BatchParts,
): Promise<void> {
  const notBeforeMs = findQuietEnd(rule.schedule, now_ms);
  const shown = await findAction(JSON.parse(row.sample_event_ids) as string[]);
  await enqueueAlert(trx, row, 'trigger', service, { now_ms, not_before_ms: notBeforeMs, shown });
}

/** Sends a silenced alert that counts again after its silence has ended. */
async function endSilence(trx: Db, alert: StoredAlert, rule: AlertRule, parts: BatchParts): Promise<void> {
  if (alert.status !== 'silenced') return;
  const group = JSON.parse(alert.row.group_values) as Record<string, string>;
  if (findSilence(parts.silences, { ...rule, tenant_ids: alert.tenant_ids, group }) !== null) return;
  alert.status = 'firing';
  await notifyChannels(trx, getRow(alert), rule, parts);
}

async function endStored(trx: Db, alert: StoredAlert, rule: AlertRule, parts: BatchParts): Promise<void> {
  if (alert.is_changed) await saveAlert(trx, alert);
  const by = { caller_id: SERVICE_ACTOR, now_ms: parts.now_ms };
  await endAlert(trx, getRow(alert), by, parts.service, findQuietEnd(rule.schedule, parts.now_ms));
}

async function saveAlert(trx: Db, alert: StoredAlert): Promise<void> {
  const { status, event_count, last_ms, sample_event_ids, tenant_ids } = getRow(alert);
  await trx
    .updateTable('alerts')
    .set({ status, event_count, last_ms, sample_event_ids, tenant_ids })
    .where('alert_id', '=', alert.row.alert_id)
    .execute();
  await saveTenants(trx, alert.row.alert_id, alert.tenant_ids);
}

async function saveTenants(trx: Db, alertId: string, tenantIds: readonly string[]): Promise<void> {
  if (tenantIds.length === 0) return;
  await trx
    .insertInto('alert_tenants')
    .values(tenantIds.map((tenantId) => ({ alert_id: alertId, tenant_id: tenantId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function saveGroups(trx: Db, groups: readonly Group[]): Promise<void> {
  for (const some of getChunks(groups))
    await trx
      .insertInto('alert_groups')
      .values(
        some.map(({ key, rule, count, is_declared }) => ({
          group_key: key,
          is_declared: Number(is_declared),
          rule_id: rule.rule_id,
          state: writeCount(count),
          last_ms: Math.max(count.max_ms, count.last_fired_ms ?? 0),
        })),
      )
      .onConflict((conflict) =>
        conflict.column('group_key').doUpdateSet((eb) => ({
          state: eb.ref('excluded.state'),
          last_ms: eb.ref('excluded.last_ms'),
        })),
      )
      .execute();
}
