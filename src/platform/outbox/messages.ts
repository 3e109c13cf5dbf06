import { randomBytes } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import type { StoreTables } from '../store/index.ts';

export type OutboxMessage = Selectable<StoreTables['outbox_messages']>;
type Db = Kysely<StoreTables>;

/** A message to queue. */
export interface NewMessage {
  readonly delivery_id: string;
  readonly queue: string;
  readonly subject_id: string;
  readonly kind: string;
  readonly order_key: string | null;
  readonly body: string;
  /** 0 to 3, 0 by default. A full queue gives up a less urgent message for a more urgent one. */
  readonly urgency?: number;
  /** The earliest time of the first attempt, in milliseconds since 1970. */
  readonly not_before_ms: number;
}

/** The number of messages that wait in one queue. More become dead letters at once. */
export const QUEUE_MESSAGES_MAX = 10_000;
/** The number of sent, dead and cancelled messages of one queue that are kept, and their age. */
const KEPT_MESSAGES_MAX = 10_000;
const KEPT_MS = 30 * 86_400_000;

let counter = 0;

/** Returns a delivery ID: a prefix, the time, and digits by which the IDs of one process sort as they were created. */
export function createDeliveryId(nowMs: number, prefix = 'dlv'): string {
  counter = (counter + 1) % 0x1_0000_0000;
  const time = Math.max(0, Math.trunc(nowMs)).toString(16).padStart(11, '0').slice(-11);
  return `${prefix}_${time}${counter.toString(16).padStart(8, '0')}${randomBytes(5).toString('hex')}`;
}

/**
 * Queues messages as part of a transaction.
 *
 * @returns the number of messages that became dead letters because their queue is full
 */
export async function enqueueMessages(
  trx: Db,
  messages: readonly NewMessage[],
  nowMs: number,
): Promise<number> {
  let refused = 0;
  for (const [queue, own] of Map.groupBy(messages, (each) => each.queue)) {
    let free = QUEUE_MESSAGES_MAX - (await countPending(trx, queue));
    const rows = [];
    for (const { not_before_ms, urgency = 0, ...message } of own) {
      const isOver = free-- <= 0;
      const isFull = isOver && !(await giveUpLessUrgent(trx, queue, urgency, nowMs));
      refused += Number(isOver);
      rows.push({
        ...message,
        urgency,
        status: isFull ? ('dead' as const) : ('pending' as const),
        attempts: 0,
        created_ms: nowMs,
        next_attempt_ms: Math.max(nowMs, not_before_ms),
        finished_ms: isFull ? nowMs : null,
        reason: isFull ? QUEUE_FULL : null,
      });
    }
    for (let at = 0; at < rows.length; at += 100)
      await trx
        .insertInto('outbox_messages')
        .values(rows.slice(at, at + 100))
        .execute();
  }
  return refused;
}

const QUEUE_FULL = `Its queue was full: ${QUEUE_MESSAGES_MAX} messages waited.`;

/** Makes the newest of the least urgent messages a dead letter. Returns `false` if none is less urgent. */
async function giveUpLessUrgent(db: Db, queue: string, urgency: number, nowMs: number): Promise<boolean> {
  const found = await db
    .selectFrom('outbox_messages')
    .select('delivery_id')
    .where('queue', '=', queue)
    .where('status', '=', 'pending')
    .where('urgency', '<', urgency)
    .orderBy('urgency')
    .orderBy('delivery_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (found === undefined) return false;
  await db
    .updateTable('outbox_messages')
    .set({ status: 'dead', finished_ms: nowMs, reason: QUEUE_FULL })
    .where('delivery_id', '=', found.delivery_id)
    .execute();
  return true;
}

/** Counts the messages that wait in a queue. */
export async function countPending(db: Db, queue: string): Promise<number> {
  const { waiting } = await db
    .selectFrom('outbox_messages')
    .select((eb) => eb.fn.countAll<number>().as('waiting'))
    .where('queue', '=', queue)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow();
  return Number(waiting);
}

/** Sends a dead letter again, with the same delivery ID. Returns `false` if there is no such dead letter. */
export async function reviveMessage(db: Db, deliveryId: string, nowMs: number): Promise<boolean> {
  const revived = { status: 'pending', attempts: 0, next_attempt_ms: nowMs, finished_ms: null } as const;
  const changed = await db
    .updateTable('outbox_messages')
    .set(revived)
    .where('delivery_id', '=', deliveryId)
    .where('status', '=', 'dead')
    .executeTakeFirst();
  return changed.numUpdatedRows === 1n;
}

/** Deletes one batch of old messages that do not wait. Returns `true` if more may remain. */
export async function deleteOldMessages(db: Db, nowMs: number): Promise<boolean> {
  const BATCH = 500;
  const old = await db
    .selectFrom('outbox_messages')
    .select('delivery_id')
    .where('status', '!=', 'pending')
    .where('finished_ms', '<', nowMs - KEPT_MS)
    .limit(BATCH)
    .execute();
  const queues = await db.selectFrom('outbox_messages').select('queue').distinct().execute();
  const extra = await Promise.all(
    queues.map(({ queue }) =>
      db
        .selectFrom('outbox_messages')
        .select('delivery_id')
        .where('queue', '=', queue)
        .where('status', '!=', 'pending')
        .orderBy('delivery_id', 'desc')
        .offset(KEPT_MESSAGES_MAX)
        .limit(BATCH)
        .execute(),
    ),
  );
  const ids = [...new Set([...old, ...extra.flat()].map(({ delivery_id }) => delivery_id))].slice(0, BATCH);
  if (ids.length === 0) return false;
  await db.deleteFrom('outbox_messages').where('delivery_id', 'in', ids).execute();
  return ids.length === BATCH;
}
