import type { Migration } from 'kysely/migration';

declare module '../store/tables.ts' {
  interface StoreTables extends OutboxTables {}
}

/** A message is `dead` after its last attempt, or if its queue was full. It can be sent again. */
export const OUTBOX_STATUSES = ['pending', 'sent', 'dead', 'cancelled'] as const;
export type OutboxStatus = (typeof OUTBOX_STATUSES)[number];

export interface OutboxTables {
  /** Messages to other machines. Times are milliseconds since 1970, UTC. */
  readonly outbox_messages: {
    /** The same for all attempts. IDs of one process sort in the order in which they were created. */
    delivery_id: string;
    queue: string;
    /** The thing that the message is about, such as an alert. */
    subject_id: string;
    /** The word for the message that its owner uses. */
    kind: string;
    /** Messages of a queue with the same key are sent one after the other; `null` for any order. */
    order_key: string | null;
    body: string;
    /** Messages of a higher urgency are sent first: 0 to 3. */
    urgency: number;
    status: OutboxStatus;
    attempts: number;
    created_ms: number;
    next_attempt_ms: number;
    /** The time at which it was sent, or became dead or cancelled. */
    finished_ms: number | null;
    /** Why the last attempt failed. */
    reason: string | null;
  };
}

export const outboxMigrations: Readonly<Record<string, Migration>> = {
  '0300_outbox': {
    async up({ schema }) {
      await schema
        .createTable('outbox_messages')
        .addColumn('delivery_id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('queue', 'text', (column) => column.notNull())
        .addColumn('subject_id', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('order_key', 'text')
        .addColumn('body', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('attempts', 'integer', (column) => column.notNull())
        .addColumn('created_ms', 'bigint', (column) => column.notNull())
        .addColumn('next_attempt_ms', 'bigint', (column) => column.notNull())
        .addColumn('finished_ms', 'bigint')
        .addColumn('reason', 'text')
        .execute();
      for (const [name, columns] of [
        ['outbox_messages_due', ['queue', 'status', 'next_attempt_ms']],
        ['outbox_messages_order', ['order_key', 'queue', 'status']],
        ['outbox_messages_subject', ['subject_id', 'delivery_id']],
      ] as const)
        await schema
          .createIndex(name)
          .on('outbox_messages')
          .columns([...columns])
          .execute();
    },
  },
  '0301_outbox_urgency': {
    async up({ schema }) {
      await schema
        .alterTable('outbox_messages')
        .addColumn('urgency', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      await schema
        .createIndex('outbox_messages_urgency')
        .on('outbox_messages')
        .columns(['queue', 'status', 'urgency', 'next_attempt_ms'])
        .execute();
    },
  },
};
