import { CONTENT_MARKS } from '../core/decision/content-marks.ts';
import { Type } from '../core/schema.ts';
import {
  ACTIONS,
  AGENT_TIERS,
  CHAIN_LINKS_MAX,
  DECISIONS,
  SEVERITIES,
  VIOLATION_TYPES,
} from '../core/types/index.ts';
import type { ActionMarks } from '../runtime/audit/types.ts';
import { APPROVAL_STATUSES } from '../runtime/enforcement/approval.ts';

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
const NAME_LIMITS = { maxLength: 256, pattern: PRINTABLE_TEXT };
export const name = Type.Nullable(Type.String(NAME_LIMITS));

/** A name that must be given. */
export const givenName = Type.String(NAME_LIMITS);

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
export const capabilityToken = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: PRINTABLE_TEXT,
  description: 'The capability token, `svc_cap_…`. It is compared and never written down.',
});

export const capabilityAction = {
  ...name,
  description: 'The action on the tool that the capability token must allow (default: `invoke`).',
} as const;

export const dataTags = Type.Array(
  Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*$' }),
  { maxItems: 64, description: 'Tags that the caller declares; they are added to those that are found.' },
);

/** A context's members that state the person and the chain. See `resolvePrincipal`. */
export const principalProperties = {
  user_id: Type.Optional({
    ...name,
    description:
      'The person for whom the agent acts. It is proved only if the credential may act for that person; otherwise it is recorded as `claimed_user`.',
  }),
  chain: Type.Optional(
    Type.Array(givenName, {
      maxItems: CHAIN_LINKS_MAX,
      description:
        'The agents that act, the one next to the person first, the caller last. A chain in the credential takes precedence.',
    }),
  ),
  agent_tier: Type.Optional(
    Type.Enum(AGENT_TIERS, {
      description: 'The way in which the agent runs. Without proof by the credential it can only restrict.',
    }),
  ),
  task_id: Type.Optional({
    ...name,
    description: 'The task that a call belongs to, `tsk_…`. A call that does not fit it is blocked.',
  }),
  trace_id: Type.Optional({ ...name, description: 'Correlates events (default: that of `traceparent`).' }),
} as const;

/** Context that scans and the guard accept in addition to the text. */
export const checkContext = Type.Object({
  tool: Type.Optional({ ...name, description: 'The tool concerned.' }),
  agent_id: Type.Optional(agentId),
  session_id: Type.Optional(sessionId),
  tenant_id: Type.Optional(tenantId),
  ...principalProperties,
});

/** The same context for operations that have a tool of their own, or none. */
export const whoContext = Type.Object({
  agent_id: Type.Optional(agentId),
  session_id: Type.Optional(sessionId),
  tenant_id: Type.Optional(tenantId),
  ...principalProperties,
});

export const violation = Type.Object({
  type: Type.Enum(VIOLATION_TYPES),
  detector: Type.String({ description: 'The family: `api_key`, `ssn`, `tool_contract`.' }),
  severity: Type.Enum(SEVERITIES),
  match: Type.Optional(Type.String({ description: 'The matched text; in answers to input scans only.' })),
  rule_id: Type.Optional(Type.String({ description: 'The exact detector.' })),
  tag: Type.Optional(Type.String({ description: 'The first of `tags`.' })),
  tags: Type.Optional(
    Type.Array(Type.String(), {
      description: 'All tags of the finding. Rules are evaluated for each; the strictest action wins.',
    }),
  ),
  example: Type.Optional(Type.Literal(true, { description: 'Set for a documented example of a secret.' })),
  source: Type.Optional(
    Type.Literal('classifier', {
      description: 'Set for a finding of a classifier that the operator configured.',
    }),
  ),
  start: Type.Optional(Type.Integer({ description: 'Unicode code points.' })),
  end: Type.Optional(Type.Integer({ description: 'Unicode code points, exclusive.' })),
  path: Type.Optional(Type.String({ description: 'Location in a JSON value, as `$.user.email`.' })),
  rule: Type.Optional(
    Type.String({ description: 'The part of a contract, an identity or a limit that was violated.' }),
  ),
  reason: Type.Optional(Type.String()),
});

export const approvalRequestId = {
  ...name,
  description: 'The request that was approved, for the same call again.',
} as const;

/** The approval request on which a check depends. */
const approval = Type.Object(
  {
    request_id: Type.String(),
    status: Type.Enum([...APPROVAL_STATUSES, 'mismatch', 'not_found']),
    expires_at: Type.Nullable(Type.String()),
  },
  { description: 'The approval request that the call depends on; only if a rule requires an approval.' },
);

/** The members that every check answers with. */
export const verdictProperties = {
  decision: Type.Enum(DECISIONS),
  action: Type.Enum(ACTIONS, { description: 'The action of the rule that decided.' }),
  rule: Type.String({ description: 'Name of the rule; `default.allow` if no rule matched.' }),
  reason: Type.String({ description: 'One sentence.' }),
  help: Type.Optional(
    Type.String({
      description: 'After a block: what the content does, another way, and how an operator allows it.',
    }),
  ),
  event_id: Type.String({ description: 'The audit event.' }),
  violations: Type.Array(violation),
  scan_duration_ms: Type.Integer(),
  coverage: Type.Enum(['full', 'partial'], { description: '`full` if all of it was scanned.' }),
  coverage_reason: Type.Optional(
    Type.String({ description: 'The limit that was reached; only when partial.' }),
  ),
  coverage_bytes: Type.Optional(Type.Integer({ description: 'UTF-8 bytes scanned; only when partial.' })),
  fallback_used: Type.Optional(
    Type.Boolean({ description: 'The `fallback_template` of the rule replaces the content.' }),
  ),
  marks: Type.Optional(
    Type.Array(Type.Enum(CONTENT_MARKS), {
      description:
        '`data`: the content of a tool result or a file passes with instructions in it that are not the user’s. Show it to the model as data.',
    }),
  ),
  approval: Type.Optional(approval),
  fault: Type.Optional(
    Type.Boolean({ description: 'The decision is due to an internal fault; it always blocks.' }),
  ),
} as const;

/** Ranges of `action_shown`. */
export const actionMarksSchema = Type.Unsafe<ActionMarks>({
  ...Type.Array(Type.Array(Type.Integer())),
  description: 'The dangerous parts of `action_shown`: start and end in UTF-16 units.',
});
