import { Type } from '../../core/schema.ts';
import {
  count,
  flag,
  integer,
  json,
  nullable,
  oneOf,
  text,
  textList,
  time,
} from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';
import { APPROVAL_STATUSES } from '../../runtime/enforcement/approval.ts';
import { GRANT_SCOPES } from './scope-names.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof approvalTables> {}
}

const originSchema = Type.Object({
  argument: Type.String(),
  labels: Type.Array(Type.String(), { description: 'Labels of its value, such as `untrusted.mail`.' }),
  event_id: Type.Nullable(
    Type.String({ description: 'The event that brought the value first; `null` if none did.' }),
  ),
  age_seconds: Type.Nullable(Type.Integer({ description: 'The age of that event.' })),
  named_by: Type.Nullable(
    Type.Enum(['prompt', 'operator', 'task'], {
      description:
        'A person’s prompt, an operator’s prompt, or the task has the value; `null` if none has it.',
    }),
  ),
  sentence: Type.String({ description: 'The same as plain text, without the value.' }),
});

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
    /** The origins of the call’s values; `null` if its contract does not check them. */
    origins: nullable(
      json(Type.Array(originSchema), {
        description: 'Origins of argument values; `null` if the contract does not check them.',
        example: [],
      }),
    ),
    policy_hash: text({ shown: false }),
    /** The terms of possible grants: JSON with keyed hashes; `null` if only this one call can be approved. */
    grant_offer: nullable(text({ shown: false })),
    /** A keyed hash that equal questions share; `null` if the request is not comparable. */
    question_key: nullable(text({ shown: false })),
    rule_proposed: flag({
      description: 'Equal requests were approved often and never denied: see the proposal.',
    }),
    grant_id: nullable(text({ description: 'The grant that was created with the approval.' })),
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
      approval_requests_question: ['question_key', 'requested_ms'],
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
  grant_scope: nullable(
    oneOf(GRANT_SCOPES, { shown: 'grant', description: 'The grant that the approver chose.' }),
  ),
  grant_uses_max: nullable(count({ shown: false })),
  grant_ttl_ms: nullable(count({ shown: false })),
  voted_ms: time({ example: '2026-01-31T12:01:00.000Z' }),
});

/** Grants: approvals for equal calls. No column holds an argument’s value. */
export const approvalGrants = defineTable(
  'approval_grants',
  {
    grant_id: text({ key: true, example: 'grt_0123456789abcdef01234567' }),
    request_id: text({
      description: 'The request with whose approval it was created.',
      example: 'apr_0123456789abcdef01234567',
    }),
    scope: oneOf(GRANT_SCOPES),
    tenant_id: text({ example: 'default' }),
    agent_id: text({ example: 'support-bot' }),
    source_agent_id: nullable(text({ shown: false })),
    destination_agent_id: nullable(text({ shown: false })),
    /** The credential whose calls it covers. */
    caller_id: text({ description: 'The caller whose calls it covers.', example: 'loopback' }),
    user_id: nullable(text({ description: 'The proved person; `null`: only calls that prove none.' })),
    chain: textList({ shown: false }),
    task_id: nullable(text({ description: 'The task; `null`: only calls that name none.' })),
    session_id: nullable(text({ description: '`null`: any session.' }), 'sess-1'),
    tool_name: text({ shown: 'tool', example: 'issue_refund' }),
    rules: textList({ description: 'The rules that it overrides.', example: ['refunds-need-a-person'] }),
    rules_hash: text({ shown: false }),
    bound_arguments: textList({
      description: 'Arguments that must have the same values.',
      example: ['order', 'amount', 'notify'],
    }),
    /** Keyed hashes of the bound values; JSON. */
    bound_hashes: text({ shown: false }),
    free_arguments: textList({ description: 'Arguments that may have other values.' }),
    /** 1: arguments that are neither bound nor free may differ, because the contract checks each of them. */
    permits_others: integer({ shown: false }),
    min_approvals: integer({ shown: false }),
    require_second_factor: integer({ shown: false }),
    /** All callers that approved; JSON. */
    approved_by: textList({ description: 'The callers that approved.', example: ['operator'] }),
    granted_ms: time({ example: '2026-01-31T12:01:00.000Z' }),
    expires_ms: time({ example: '2026-01-31T13:01:00.000Z' }),
    uses_max: count({ description: 'Number of calls that it covers.', example: 20 }),
    uses: count({ description: 'Number of calls that it covered so far.' }),
    last_used_ms: nullable(time()),
    revoked_by: nullable(text()),
    revoked_ms: nullable(time()),
  },
  {
    indexes: {
      approval_grants_newest: ['granted_ms', 'grant_id'],
      approval_grants_active: ['tenant_id', 'agent_id', 'tool_name', 'expires_ms'],
    },
  },
);

const approvalTables = [approvalRequests, approvalVotes, approvalGrants] as const;

export const approvalMigrations = createTables('approvals', approvalTables);
