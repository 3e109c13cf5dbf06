import type { Kysely } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';
import { ALERT_QUEUE_PREFIX, type AlertRow } from './alert-store.ts';
import { readCount, resetCount, writeCount } from './counting.ts';
import { enqueueAlert } from './message.ts';
import type { AlertService } from './types.ts';

type Db = Kysely<StoreTables>;

/**
 * Resolves an alert and forgets what was counted for its group. Notifies the channels that have a message about it. A message that
 * still waits for the end of quiet hours is cancelled instead.
 */
export async function endAlert(
  trx: Db,
  alert: AlertRow,
  { caller_id, now_ms }: { readonly caller_id: string; readonly now_ms: number },
  service: Pick<AlertService, 'source' | 'console_url' | 'links'>,
  notBeforeMs: number = now_ms,
): Promise<void> {
  const changes = { status: 'resolved' as const, resolved_by: caller_id, resolved_ms: now_ms };
  await trx.updateTable('alerts').set(changes).where('alert_id', '=', alert.alert_id).execute();
  await resetGroup(trx, alert.group_key);
  const deferred = await trx
    .selectFrom('outbox_messages')
    .select(['delivery_id', 'queue'])
    .where('subject_id', '=', alert.alert_id)
    .where('status', '=', 'pending')
    .where('attempts', '=', 0)
    .where('next_attempt_ms', '>', now_ms)
    .execute();
  if (deferred.length > 0)
    await trx
      .updateTable('outbox_messages')
      .set({
        status: 'cancelled',
        finished_ms: now_ms,
        reason: 'The alert was resolved before its quiet hours ended.',
      })
      .where(
        'delivery_id',
        'in',
        deferred.map(({ delivery_id }) => delivery_id),
      )
      .execute();
  const channels = await listNotifiedChannels(trx, alert.alert_id);
  await enqueueAlert(trx, { ...alert, ...changes }, 'resolve', service, {
    now_ms,
    not_before_ms: notBeforeMs,
    channels,
  });
}

/** Returns the channels that have a message of this alert, or will have one. */
export async function listNotifiedChannels(trx: Db, alertId: string): Promise<readonly string[]> {
  const rows = await trx
    .selectFrom('outbox_messages')
    .select('queue')
    .distinct()
    .where('subject_id', '=', alertId)
    .where('status', '!=', 'cancelled')
    .orderBy('queue')
    .execute();
  return rows.map(({ queue }) => queue.slice(ALERT_QUEUE_PREFIX.length));
}

async function resetGroup(trx: Db, groupKey: string): Promise<void> {
  const row = await trx
    .selectFrom('alert_groups')
    .select('state')
    .where('group_key', '=', groupKey)
    .executeTakeFirst();
  if (row === undefined) return;
  const state = writeCount(resetCount(readCount(row.state)));
  await trx.updateTable('alert_groups').set({ state }).where('group_key', '=', groupKey).execute();
}
