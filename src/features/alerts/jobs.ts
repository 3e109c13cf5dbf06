import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readOwnFileSync } from '../../platform/files/own-file.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import type { Log } from '../../platform/log.ts';
import type { Store } from '../../platform/store/index.ts';
import type { MaintenanceJob } from '../../platform/store/maintenance.ts';
import type { AuditIndex } from '../../runtime/audit/audit-index.ts';
import { findShortenedChains } from '../../runtime/audit/shortened-chains.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import { ALERT_QUEUE_PREFIX } from './alert-store.ts';
import { openAlertEvaluator } from './evaluator.ts';
import type { AlertService, AlertSeverity } from './types.ts';

const EVALUATE_MS = 1_000;
const FORGET_MS = 600_000;

export interface AlertJobParts {
  readonly config: { readonly state_dir: string; readonly auth: Pick<Config['auth'], 'api_keys'> };
  readonly store: () => Promise<Store>;
  readonly ports: () => Pick<EnforcementPorts, 'now_ms' | 'policy'>;
  readonly log: Pick<Log, 'warn'>;
  /** Opens the audit index; `null` without an audit log, from which alerts are read. */
  readonly index: (() => Promise<AuditIndex>) | null;
  readonly alerts: () => Promise<AlertService>;
  readonly started_ms: number;
  readonly alert_metrics: { readonly countFired: (severity: AlertSeverity) => void };
}

/** Builds the jobs that evaluate alert rules and delete old alerts. */
export function buildAlertJobs(parts: AlertJobParts): readonly MaintenanceJob[] {
  const nowMs = () => parts.ports().now_ms();
  const forget = async () => {
    const { db } = await parts.store();
    await giveUpOrphans(db, await parts.alerts(), nowMs());
    return deleteOldAlerts(db, nowMs());
  };
  const forgetting = { name: 'alerts: forget what is old', every_ms: FORGET_MS, run: forget };
  if (parts.index === null) return [forgetting];
  return [
    {
      name: 'alerts: evaluate rules',
      every_ms: EVALUATE_MS,
      // Each node evaluates the events of its own index, and counts them together with the others in the store.
      runs_on_each_node: true,
      run: buildEvaluation(parts, parts.index),
    },
    forgetting,
  ];
}

function buildEvaluation(parts: AlertJobParts, index: () => Promise<AuditIndex>): () => Promise<boolean> {
  let evaluate: (() => Promise<boolean>) | null = null;
  const { state_dir } = parts.config;
  return async () => {
    evaluate ??= openAlertEvaluator({
      store: parts.store,
      index,
      service: await parts.alerts(),
      stream_id: readStreamId(state_dir),
      started_ms: parts.started_ms,
      now_ms: () => parts.ports().now_ms(),
      listDeclaredAgents: () => listDeclaredAgents(parts),
      log: parts.log,
      conditions: {
        findShortened: async () => findShortenedChains(await index(), join(state_dir, 'journal')),
      },
      onFired: parts.alert_metrics.countFired,
    }).evaluate;
    return evaluate();
  };
}

/** Lists the agents of the identities and of the configured keys, in lower case. */
function listDeclaredAgents({ config, ports }: AlertJobParts): ReadonlySet<string> {
  const names = [
    ...ports().policy.identities.map(({ agent_id }) => agent_id),
    ...config.auth.api_keys.flatMap(({ agents = [] }) => agents),
  ];
  return new Set(names.map((name) => name.toLowerCase()));
}

const STREAM_FILE = 'alert-stream-id';

/** Returns the name of the events of a state folder. It is created once and stays with the folder. */
function readStreamId(stateDir: string): string {
  const path = join(stateDir, STREAM_FILE);
  writePrivateFile(path, `${randomBytes(12).toString('hex')}\n`, 'keep');
  return readOwnFileSync(path).trim();
}

/** Resolved alerts are kept this long, and at most this many. */
const KEPT_MS = 90 * 86_400_000;
const KEPT_MAX = 50_000;
const BATCH = 500;
/** Longer than any window and cooldown. */
const GROUP_MS = 8 * 86_400_000;
const SIGNAL_MS = 400 * 86_400_000;

/** A message waits this long for a channel that is not configured, because another service may have it. */
const ORPHAN_MS = 86_400_000;

/** Gives up messages to channels that are no longer configured. They can be sent again when the channel is back. */
async function giveUpOrphans(db: Store['db'], { channels }: AlertService, nowMs: number): Promise<void> {
  await db
    .updateTable('outbox_messages')
    .set({ status: 'dead', finished_ms: nowMs, reason: 'Its channel is not in the configuration.' })
    .where('status', '=', 'pending')
    .where('queue', 'like', `${ALERT_QUEUE_PREFIX}%`)
    .where(
      'queue',
      'not in',
      channels.map(({ name }) => `${ALERT_QUEUE_PREFIX}${name}`),
    )
    .where('created_ms', '<', nowMs - ORPHAN_MS)
    .execute();
}

/** Deletes one batch of old alerts, groups and conditions. Returns `true` if more may remain. */
async function deleteOldAlerts(db: Store['db'], nowMs: number): Promise<boolean> {
  await db
    .deleteFrom('alert_groups')
    .where('last_ms', '<', nowMs - GROUP_MS)
    .execute();
  await db
    .deleteFrom('alert_signals')
    .where('seen_ms', '<', nowMs - SIGNAL_MS)
    .execute();
  await db
    .deleteFrom('alert_silences')
    .where('expires_ms', '<', nowMs - KEPT_MS)
    .execute();
  const ended = db.selectFrom('alerts').select('alert_id').where('status', '=', 'resolved');
  const old = await ended
    .where('resolved_ms', '<', nowMs - KEPT_MS)
    .limit(BATCH)
    .execute();
  const extra = await ended.orderBy('alert_id', 'desc').offset(KEPT_MAX).limit(BATCH).execute();
  const ids = [...new Set([...old, ...extra].map(({ alert_id }) => alert_id))].slice(0, BATCH);
  if (ids.length === 0) return false;
  await db.deleteFrom('alert_tenants').where('alert_id', 'in', ids).execute();
  await db.deleteFrom('alerts').where('alert_id', 'in', ids).execute();
  return ids.length === BATCH;
}
