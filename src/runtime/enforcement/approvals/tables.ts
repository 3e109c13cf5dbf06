import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ApprovalStatus } from './lifecycle.ts';

declare module '../../../platform/store/tables.ts' {
  interface StoreTables extends ApprovalTables {}
}

/**
 * The tables of approvals. Times are milliseconds since 1970, UTC; lists are JSON. No column holds raw text.
 */
export interface ApprovalTables {
  readonly approval_requests: {
    request_id: string;
    status: ApprovalStatus;
    tenant_id: string;
    agent_id: string;
    source_agent_id: string | null;
    destination_agent_id: string | null;
    session_id: string | null;
    tool_name: string | null;
    boundary: string;
    phase: string | null;
    /**
     * The SHA-256 of the canonical arguments, in hex. It is never shown, because short arguments could be
     * guessed from it.
     */
    arguments_hash: string;
    /** The arguments as JSON with every finding masked, cut to a limit. */
    arguments_masked: string;
    /** The call as people see it, and its marks as JSON; `null` if it is no tool call. */
    action_shown: string | null;
    action_marks: string | null;
    /** UTF-8 bytes of the masked arguments before they were cut. */
    arguments_bytes: number;
    /** The winning rule, and all rules that require approval. */
    rule: string;
    rules: string;
    reason: string;
    data_tags: string;
    policy_hash: string;
    min_approvals: number;
    /** 1: approvers must have just proved a second factor. */
    require_second_factor: number;
    requested_by: string;
    requested_ms: number;
    expires_ms: number;
    /** The caller that ended or used the request, and the time. */
    decided_by: string | null;
    decided_ms: number | null;
    consumed_ms: number | null;
    /** The key that equal pending requests share; `null` once the request is not pending. */
    pending_key: string | null;
  };
  /** One row per vote. */
  readonly approval_votes: {
    request_id: string;
    /** The caller, as its credential proves it. */
    caller_id: string;
    vote: 'approve' | 'deny';
    /** The name that the approver gave. */
    approver: string | null;
    comment: string | null;
    voted_ms: number;
  };
}

export const approvalMigrations: Readonly<Record<string, Migration>> = {
  '0010_approvals': {
    async up(db) {
      await makeRequests(db);
      await makeVotes(db);
      await makeOutbox(db);
    },
  },
  '0110_approval_second_factor': {
    async up({ schema }) {
      await schema
        .alterTable('approval_requests')
        .addColumn('require_second_factor', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
  '0420_approval_actions': {
    async up({ schema }) {
      for (const name of ['action_shown', 'action_marks'])
        await schema.alterTable('approval_requests').addColumn(name, 'text').execute();
    },
  },
  /** Webhook messages go to the outbox that everything shares. */
  '0301_approval_outbox': {
    async up(db) {
      await sql`
        insert into outbox_messages (
          delivery_id, queue, subject_id, kind, body, status, attempts, created_ms, next_attempt_ms
        ) select message_id, 'approvals', request_id, 'approval', body, 'pending', attempts, created_ms, next_attempt_ms
        from approval_outbox`.execute(db);
      await db.schema.dropTable('approval_outbox').execute();
    },
  },
};

type Db = Parameters<Migration['up']>[0];

async function makeRequests({ schema }: Db): Promise<void> {
  await schema
    .createTable('approval_requests')
    .addColumn('request_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('tenant_id', 'text', (column) => column.notNull())
    .addColumn('agent_id', 'text', (column) => column.notNull())
    .addColumn('source_agent_id', 'text')
    .addColumn('destination_agent_id', 'text')
    .addColumn('session_id', 'text')
    .addColumn('tool_name', 'text')
    .addColumn('boundary', 'text', (column) => column.notNull())
    .addColumn('phase', 'text')
    .addColumn('arguments_hash', 'text', (column) => column.notNull())
    .addColumn('arguments_masked', 'text', (column) => column.notNull())
    .addColumn('arguments_bytes', 'bigint', (column) => column.notNull())
    .addColumn('rule', 'text', (column) => column.notNull())
    .addColumn('rules', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('data_tags', 'text', (column) => column.notNull())
    .addColumn('policy_hash', 'text', (column) => column.notNull())
    .addColumn('min_approvals', 'integer', (column) => column.notNull())
    .addColumn('requested_by', 'text', (column) => column.notNull())
    .addColumn('requested_ms', 'bigint', (column) => column.notNull())
    .addColumn('expires_ms', 'bigint', (column) => column.notNull())
    .addColumn('decided_by', 'text')
    .addColumn('decided_ms', 'bigint')
    .addColumn('consumed_ms', 'bigint')
    .addColumn('pending_key', 'text', (column) => column.unique())
    .execute();
  await schema
    .createIndex('approval_requests_newest')
    .on('approval_requests')
    .columns(['requested_ms', 'request_id'])
    .execute();
  await schema
    .createIndex('approval_requests_waiting')
    .on('approval_requests')
    .columns(['status', 'tenant_id', 'agent_id', 'expires_ms'])
    .execute();
}

async function makeVotes({ schema }: Db): Promise<void> {
  await schema
    .createTable('approval_votes')
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('caller_id', 'text', (column) => column.notNull())
    .addColumn('vote', 'text', (column) => column.notNull())
    .addColumn('approver', 'text')
    .addColumn('comment', 'text')
    .addColumn('voted_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('approval_votes_key', ['request_id', 'caller_id'])
    .execute();
}

async function makeOutbox({ schema }: Db): Promise<void> {
  await schema
    .createTable('approval_outbox')
    .addColumn('message_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('next_attempt_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('approval_outbox_next').on('approval_outbox').column('next_attempt_ms').execute();
}
