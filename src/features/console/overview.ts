import type { Context } from '../../operations/operation.ts';
import { listScopeNames } from '../../runtime/access/scope.ts';
import type { CountField, EventCount } from '../../runtime/audit/count-types.ts';
import { SHORT_PERIOD_MS } from '../../runtime/audit/count-types.ts';
import {
  createEmptyOutcomes,
  getOutcome,
  readCounts,
  sumByName,
  sumByValue,
  sumEvents,
  type ValueCount,
} from './count-tables.ts';
import { findIncidents } from './incidents.ts';
import type { ReadScope, ReadWindow } from './read-scope.ts';

const RECENT_MAX = 8;
const TOP_MAX = 10;
/** The number of buckets that a chart has at least, if the period allows it. */
const BUCKETS_MIN = 24;
const MINUTE_MS = 60_000;
const BUCKET_STEPS_MS = [5, 15, 30, 60, 180, 360, 720, 1_440, 10_080].map((minutes) => minutes * MINUTE_MS);

/** Returns the overview of a period: counts, their change, and what waits. Its parts are read together. */
export async function readOverview(scope: ReadScope, window: ReadWindow, context: Context) {
  const lengthMs = Math.ceil((window.until_ms - window.since_ms) / SHORT_PERIOD_MS) * SHORT_PERIOD_MS;
  const bucketMs = chooseBucket(lengthMs);
  const before = { since_ms: window.since_ms - lengthMs, until_ms: window.since_ms };
  const count = (by: CountField, period: typeof before, split: number | null = null) =>
    readCounts(context.runtime, by, scope, period, { bucket_ms: split });
  const both = (by: CountField) => Promise.all([count(by, window), count(by, before)]);
  const [boundaries, earlier, tops, approvals, incidents, recentAlerts, health] = await Promise.all([
    count('boundary', window, bucketMs),
    count('boundary', before),
    Promise.all([both('rule'), both('tag'), both('agent'), both('tool'), both('tenant'), both('model')]),
    readApprovals(scope, context),
    findIncidents({}, scope, window, RECENT_MAX, null, context),
    readAlerts(scope, context),
    readHealth(context),
  ]);
  const [rules, tags, agents, tools, tenants, models] = tops;
  return {
    window: {
      last: window.last,
      since: formatMs(window.since_ms),
      until: formatMs(window.until_ms),
      bucket_seconds: bucketMs / 1_000,
    },
    events_total: sumEvents(boundaries),
    action_counts: sumByName(boundaries, 'action'),
    decision_counts: sumByName(boundaries, 'decision'),
    boundary_counts: countBoundaries(boundaries),
    buckets: fillBuckets(boundaries, window, bucketMs),
    top: {
      rules: listTop(...rules),
      tags: listTop(...tags),
      agents: listTop(...agents),
      tools: listTop(...tools),
      tenants: listTop(...tenants),
      models: listTop(...models),
    },
    previous: {
      since: formatMs(before.since_ms),
      until: formatMs(before.until_ms),
      events_total: sumEvents(earlier),
      action_counts: sumByName(earlier, 'action'),
      decision_counts: sumByName(earlier, 'decision'),
      boundary_counts: countBoundaries(earlier),
    },
    ...approvals,
    recent_incidents: [...incidents.events],
    recent_alerts: recentAlerts,
    tenants: sumByValue(tenants[0])
      .map(({ value }) => value)
      .toSorted(),
    health,
  };
}

/** Returns the length of a bucket: the longest that leaves enough buckets in the period. */
function chooseBucket(lengthMs: number): number {
  return BUCKET_STEPS_MS.findLast((step) => lengthMs / step >= BUCKETS_MIN) ?? BUCKET_STEPS_MS[0]!;
}

function fillBuckets(counts: readonly EventCount[], { since_ms, until_ms }: ReadWindow, bucketMs: number) {
  const buckets = new Map<number, ReturnType<typeof createEmptyOutcomes>>();
  for (let at = Math.floor(since_ms / bucketMs) * bucketMs; at < until_ms; at += bucketMs)
    buckets.set(at, createEmptyOutcomes());
  for (const each of counts) {
    const bucket = buckets.get(each.bucket_ms ?? 0);
    if (bucket !== undefined) bucket[getOutcome(each)] += each.count;
  }
  return [...buckets].map(([startMs, outcomes]) => ({ start: formatMs(startMs), ...outcomes }));
}

function countBoundaries(counts: readonly EventCount[]): Record<string, number> {
  const sums: Record<string, number> = { input: 0, output: 0, action: 0, memory: 0 };
  for (const { value, count } of counts) sums[value] = (sums[value] ?? 0) + count;
  return sums;
}

function listTop(now: readonly EventCount[], before: readonly EventCount[]) {
  const earlier = new Map(sumByValue(before).map((each) => [each.value, each]));
  return sumByValue(now)
    .slice(0, TOP_MAX)
    .map((each: ValueCount) => ({
      name: each.value,
      events: each.events,
      blocked: each.blocked,
      outcomes: { ...each.outcomes },
      previous_events: earlier.get(each.value)?.events ?? 0,
      previous_blocked: earlier.get(each.value)?.blocked ?? 0,
    }));
}

/** The largest number of waiting requests that is counted. */
const PENDING_MAX = 1_000;

async function readApprovals({ tenants, agents }: ReadScope, { runtime, caller }: Context) {
  const none = { pending_approvals: null, next_approval_expires_at: null };
  if (!caller.permissions.includes('approvals:read')) return none;
  const approvals = await runtime.approvals().catch(() => null);
  if (approvals === null) return none;
  const pending = await approvals.list({
    status: 'pending',
    tenant_ids: listScopeNames(tenants),
    agent_ids: listScopeNames(agents),
    limit: PENDING_MAX,
  });
  return {
    pending_approvals: pending.length,
    next_approval_expires_at: pending.map(({ expires_at }) => expires_at).toSorted()[0] ?? null,
  };
}

/** Returns the newest alerts. An alert may name any agent, so a caller for particular ones sees none. */
async function readAlerts({ tenants, agents }: ReadScope, { runtime, caller }: Context) {
  if (!caller.permissions.includes('alerts:read') || agents !== '*') return [];
  try {
    return await runtime.listRecentAlerts(tenants, RECENT_MAX);
  } catch {
    // The overview has other parts, which need no store.
    return [];
  }
}

async function readHealth({ runtime }: Context) {
  const [isReady, lastReloadFailure] = await Promise.all([runtime.ready(), runtime.reloadFailure()]);
  const policy = runtime.policy();
  return {
    status: isReady && lastReloadFailure === null ? ('healthy' as const) : ('degraded' as const),
    ready: isReady,
    last_reload_failure: lastReloadFailure,
    policy_hash: policy.hash,
    rules: policy.rules.length,
    monitored_rules: policy.rules.filter(({ enforcement }) => enforcement === 'monitor').length,
    version: runtime.version,
    mode: runtime.mode,
    uptime_seconds: Math.max(0, Math.floor((runtime.now_ms() - runtime.started_ms) / 1_000)),
  };
}

/** Formats a time as ISO 8601, UTC. */
function formatMs(ms: number): string {
  return new Date(ms).toISOString();
}
