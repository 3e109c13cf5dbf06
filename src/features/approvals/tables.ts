import { count, flag, integer, nullable, oneOf, text, textList, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';
import { APPROVAL_STATUSES } from '../../runtime/enforcement/approval.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof approvalTables> {}
}

/** Requests for approval. No column holds raw text. */
export const approvalRequests = defineTable(
  'approval_requests',
  {
    request_id: text({ key: true, example: 'apr_0123456789abcdef01234567' }),
    status: oneOf(APPROVAL_STATUSES),
    tenant_id: text({ example: 'default' }),
    agent_id: text({ example: 'support-bot' }),
    source_agent_id: nullable(text(), 'support-bot'),
    destination_agent_id: nullable(text(), 'issue_refund'),
    session_id: nullable(text(), 'sess-1'),
    tool_name: nullable(text({ shown: 'tool' }), 'issue_refund'),
    boundary: text({ example: 'action' }),
    phase: nullable(text(), 'request'),
    /** The SHA-256 of the canonical arguments and the proved person, in hex. Short arguments could be guessed from it. */
    arguments_hash: text({ shown: false }),
    rule: text({ description: 'The rule that decided.', example: 'refunds-need-a-person' }),
    rules: textList({
      description: 'All rules that require an approval.',
      example: ['refunds-need-a-person'],
    }),
    reason: text({ example: 'A refund needs an approval.' }),
    data_tags: textList({ example: ['personal.pii.email'] }),
    /** `null` if it is no tool call. */
    action_shown: nullable(
      text({
        description:
          'The tool and its arguments, at most 2 KB, with secrets, personal data and injections masked. Plain text.',
      }),
      'issue_refund {"order":"A-17","amount":120,"notify":"[REDACTED]"}',
    ),
    /** JSON. Shown by `describeShownAction`. */
    action_marks: nullable(text({ shown: false })),
    arguments_masked: text({
      shown: 'arguments',
      description:
        'JSON, with secrets, personal data and injections masked; where it was cut, its beginning.',
      example: '{"order":"A-17","amount":120,"notify":"[REDACTED]"}',
    }),
    /** UTF-8 bytes. */
    arguments_bytes: count({ description: 'Bytes before it was cut.', example: 51 }),
    policy_hash: text({ shown: false }),
    min_approvals: integer({ description: 'Number of approvals that are required.', example: 1 }),
    require_second_factor: flag({ description: 'Approvers must have just proved a second factor.' }),
    requested_by: text({ example: 'loopback' }),
    requested_ms: time(),
    expires_ms: time({
      description: 'Until then it can be decided and used.',
      example: '2026-01-31T13:00:00.000Z',
    }),
    /** The caller that ended or used the request, and the time. */
    decided_by: nullable(text()),
    decided_ms: nullable(time()),
    consumed_ms: nullable(time()),
    /** The key that equal pending requests share; `null` once the request is not pending. */
    pending_key: nullable(text({ unique: true, shown: false })),
  },
  {
    indexes: {
      approval_requests_newest: ['requested_ms', 'request_id'],
      approval_requests_waiting: ['status', 'tenant_id', 'agent_id', 'expires_ms'],
    },
  },
);

/** One row per vote. */
export const approvalVotes = defineTable('approval_votes', {
  request_id: text({ key: true, shown: false }),
  vote: oneOf(['approve', 'deny']),
  caller_id: text({
    key: true,
    description: 'The caller, as its credential proves.',
    example: 'operator',
  }),
  approver: nullable(text({ description: 'The name that the approver gave.' })),
  comment: nullable(text()),
  voted_ms: time({ example: '2026-01-31T12:01:00.000Z' }),
});

const approvalTables = [approvalRequests, approvalVotes] as const;

export const approvalMigrations = createTables('approvals', approvalTables);
