import { integer, nullable, oneOf, text, time } from '../store/columns.ts';
import { createTables, defineTable, type Rows } from '../store/define-table.ts';

declare module '../store/tables.ts' {
  interface StoreTables extends Rows<[typeof outboxMessages]> {}
}

/** A message is `dead` after its last attempt, or if its queue was full. It can be sent again. */
export const OUTBOX_STATUSES = ['pending', 'sent', 'dead', 'cancelled'] as const;
export type OutboxStatus = (typeof OUTBOX_STATUSES)[number];

/** Messages to other machines. */
export const outboxMessages = defineTable(
  'outbox_messages',
  {
    /** IDs of one process sort in the order in which they were created. */
    delivery_id: text({
      key: true,
      description: 'The same for all attempts, so that a receiver recognises a duplicate.',
    }),
    queue: text({ shown: 'channel' }),
    /** The thing that the message is about, such as an alert. */
    subject_id: text({ description: 'The alert, the rule of a test, or the approval request.' }),
    /** The word for the message that its owner uses. */
    kind: text({
      description: '`trigger`, `acknowledge`, `resolve`, `test`, or the status of an approval.',
    }),
    /** Messages of a queue with the same key are sent one after the other; `null` for any order. */
    order_key: nullable(text({ shown: false })),
    body: text({ shown: false }),
    /** Messages of a higher urgency are sent first: 0 to 3. */
    urgency: integer({ shown: false }),
    status: oneOf(OUTBOX_STATUSES),
    attempts: integer(),
    reason: nullable(text({ description: 'Why the last attempt failed.' })),
    created_ms: time(),
    next_attempt_ms: time(),
    /** The time at which it was sent, or became dead or cancelled. */
    finished_ms: nullable(time()),
  },
  {
    indexes: {
      outbox_messages_due: ['queue', 'status', 'next_attempt_ms'],
      outbox_messages_order: ['order_key', 'queue', 'status'],
      outbox_messages_subject: ['subject_id', 'delivery_id'],
      outbox_messages_urgency: ['queue', 'status', 'urgency', 'next_attempt_ms'],
    },
  },
);

export const outboxMigrations = createTables('outbox', [outboxMessages]);
