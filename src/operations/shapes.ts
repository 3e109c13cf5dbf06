import { CONTENT_MARKS } from '../core/decision/content-marks.ts';
import { ACTIONS, DECISIONS, SEVERITIES, VIOLATION_TYPES } from '../core/types/index.ts';
import { APPROVAL_STATUSES } from '../runtime/enforcement/approvals/lifecycle.ts';

/**
 * A character of a name or a reason: no control character and no lone surrogate. Written as ranges,
 * because validators in Python read the description too, and have no `\p{...}`.
 */
export const PRINTABLE = '[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]';
export const PRINTABLE_TEXT = `^${PRINTABLE}*$`;

/**
 * A name that a caller gives. It is written to the audit log, so it has a maximum length and no control characters or
 * lone surrogates. Blank or `null` is the same as absent.
 */
export const name = {
  type: ['string', 'null'],
  maxLength: 256,
  pattern: PRINTABLE_TEXT,
} as const;

export const tenantId = {
  ...name,
  description: 'The tenant whose rules apply (default: `default`, or the only tenant of the credential).',
} as const;

export const agentId = {
  ...name,
  description: 'The agent; without it the only agent of the credential, or `unknown`.',
} as const;

export const sessionId = { ...name, description: 'The session that this belongs to.' } as const;

/** A capability token. No valid token is longer than this. */
export const capabilityToken = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: PRINTABLE_TEXT,
  description: 'The capability token, `svc_cap_…`. It is compared and never written down.',
} as const;

export const capabilityAction = {
  ...name,
  description: 'The action on the tool that the capability token must allow (default: `invoke`).',
} as const;

export const dataTags = {
  type: 'array',
  maxItems: 64,
  items: {
    type: 'string',
    minLength: 1,
    maxLength: 128,
    pattern: '^[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*$',
  },
  description: 'Tags that the caller declares; they are added to those that are found.',
} as const;

/** Context that scans and the guard accept in addition to the text. */
export const checkContext = {
  type: 'object',
  properties: {
    tool: { ...name, description: 'The tool concerned.' },
    agent_id: agentId,
    session_id: sessionId,
    tenant_id: tenantId,
  },
} as const;

/** The same context for operations that have a tool of their own, or none. */
export const whoContext = {
  type: 'object',
  properties: { agent_id: agentId, session_id: sessionId, tenant_id: tenantId },
} as const;

export const violation = {
  type: 'object',
  required: ['type', 'detector', 'severity'],
  properties: {
    type: { enum: VIOLATION_TYPES },
    detector: { type: 'string', description: 'The family: `api_key`, `ssn`, `tool_contract`.' },
    severity: { enum: SEVERITIES },
    match: { type: 'string', description: 'The matched text; in answers to input scans only.' },
    rule_id: { type: 'string', description: 'The exact detector.' },
    tag: { type: 'string', description: 'The first of `tags`.' },
    tags: {
      type: 'array',
      items: { type: 'string' },
      description: 'All tags of the finding. Rules are evaluated for each; the strictest action wins.',
    },
    example: { const: true, description: 'Set for a documented example of a secret.' },
    source: {
      const: 'classifier',
      description: 'Set for a finding of a classifier that the operator configured.',
    },
    start: { type: 'integer', description: 'Unicode code points.' },
    end: { type: 'integer', description: 'Unicode code points, exclusive.' },
    path: { type: 'string', description: 'Location in a JSON value, as `$.user.email`.' },
    rule: {
      type: 'string',
      description: 'The part of a contract, an identity or a limit that was violated.',
    },
    reason: { type: 'string' },
  },
} as const;

export const approvalRequestId = {
  ...name,
  description: 'The request that was approved, for the same call again.',
} as const;

/** The approval request on which a check depends. */
const approval = {
  type: 'object',
  required: ['request_id', 'status', 'expires_at'],
  description: 'The approval request that the call depends on; only if a rule requires an approval.',
  properties: {
    request_id: { type: 'string' },
    status: { enum: [...APPROVAL_STATUSES, 'mismatch', 'not_found'] },
    expires_at: { type: ['string', 'null'] },
  },
} as const;

/** The members that every check answers with. */
export const verdictProperties = {
  decision: { enum: DECISIONS },
  action: { enum: ACTIONS, description: 'The action of the rule that decided.' },
  rule: { type: 'string', description: 'Name of the rule; `default.allow` if no rule matched.' },
  reason: { type: 'string', description: 'One sentence.' },
  help: {
    type: 'string',
    description: 'After a block: what the content does, another way, and how an operator allows it.',
  },
  event_id: { type: 'string', description: 'The audit event.' },
  violations: { type: 'array', items: violation },
  scan_duration_ms: { type: 'integer' },
  coverage: { enum: ['full', 'partial'], description: '`full` if all of it was scanned.' },
  coverage_reason: { type: 'string', description: 'The limit that was reached; only when partial.' },
  coverage_bytes: { type: 'integer', description: 'UTF-8 bytes scanned; only when partial.' },
  fallback_used: {
    type: 'boolean',
    description: 'The `fallback_template` of the rule replaces the content.',
  },
  marks: {
    type: 'array',
    items: { enum: CONTENT_MARKS },
    description:
      '`data`: the content of a tool result or a file passes with instructions in it that are not the user’s. Show it to the model as data.',
  },
  approval,
  fault: { type: 'boolean', description: 'The decision is due to an internal fault; it always blocks.' },
} as const;

export const verdictRequired = [
  'decision',
  'action',
  'rule',
  'reason',
  'event_id',
  'violations',
  'scan_duration_ms',
  'coverage',
] as const;
