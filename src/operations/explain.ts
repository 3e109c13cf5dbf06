import type { TSchema } from 'typebox';
import type { CounterfactualChange } from '../core/review/counterfactual.ts';
import type { Explanation } from '../core/review/explain.ts';
import { Type } from '../core/schema.ts';
import { ACTIONS, DECISIONS, SEVERITIES } from '../core/types/index.ts';
import { coversName } from '../runtime/access/scope.ts';
import type { Caller } from '../runtime/access/types.ts';
import type { AuditEvent } from '../runtime/audit/types.ts';
import { loadConditions } from '../runtime/policies/conditions.ts';
import { findEvents } from './audit.ts';
import { type Context, defineOperation, Refusal } from './operation.ts';
import { buildNoSuchEventRefusal } from './subject.ts';

const decision = Type.Enum(DECISIONS);
const action = Type.Enum(ACTIONS);

const result = Type.Object({ decision, action, rule: Type.String() });

function allowNull<Value extends TSchema>(schema: Value, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

const traceEntry = Type.Object({
  rule: Type.String(),
  action,
  tenant_id: Type.Nullable(Type.String()),
  builtin: Type.Boolean(),
  outcome: Type.Enum(['matched', 'monitored', 'not_matched', 'not_reached']),
  reason: Type.String(),
});

const evaluation = Type.Object({
  subject: Type.Enum(['crossing', 'tag', 'contract', 'identity', 'coverage']),
  tag: Type.Nullable(Type.String()),
  origin: Type.Enum(['found', 'classified', 'declared', 'fact', null]),
  severity: Type.Enum([...SEVERITIES, null]),
  action,
  rule: Type.String(),
  reason: Type.String(),
  decisive: Type.Boolean({ description: '`true` if it decided.' }),
  rule_trace: Type.Array(traceEntry, { description: 'Every rule that was evaluated for it, in order.' }),
  rule_trace_truncated: Type.Integer(),
});

/** An explanation of a decision, as the answer of operations. */
export const explanationSchema = Type.Object({
  replayed: {
    ...result,
    description: 'The decision of the policy when it is evaluated again on the record.',
  },
  matches_record: Type.Boolean({ description: 'Whether `replayed` equals `recorded`.' }),
  evaluations: Type.Array(evaluation, {
    description:
      'Everything that was evaluated: tags, the call or message itself, contracts, identities, coverage. The strictest action decides.',
  }),
  monitored: Type.Array(Type.Object({ rule: Type.String(), action, tag: Type.Nullable(Type.String()) }), {
    description: 'Rules in monitor mode that matched.',
  }),
  enforced_result: allowNull(result, 'The decision if no rule were in monitor mode.'),
  not_evaluated: Type.Array(
    Type.Object({
      rule: Type.String(),
      tenant_id: Type.Nullable(Type.String()),
      mismatch: Type.Enum(['boundary', 'phase', 'tenant']),
      reason: Type.String(),
    }),
    { description: 'Rules for another boundary, phase or tenant.' },
  ),
  not_evaluated_truncated: Type.Integer(),
  counterfactual: allowNull(
    Type.Object({
      changes: Type.Array(
        Type.Unsafe<CounterfactualChange>(
          Type.Object({ kind: Type.String(), rule: Type.String(), change: Type.String() }),
        ),
        {
          description: 'Each change.',
        },
      ),
      result,
    }),
    'The smallest change that leads to a less strict decision, and that decision; `null` if it was allowed.',
  ),
});

/** Messages for each reason why a decision has no explanation. */
const REASONS = {
  explained: 'The rules were evaluated again on the recorded tags and facts; no text is stored.',
  policy_unavailable: 'The policy that decided is no longer stored, so its rules cannot be evaluated.',
  no_decision: 'The event records a change or a notice, not a decision of rules.',
  fault: 'A fault of the service decided, not a rule.',
  incomplete: 'The event does not hold all findings, so the rules cannot be evaluated again.',
} as const;

export const policyExplain = defineOperation({
  name: 'policy_explain',
  summary: 'Explain a decision',
  description:
    'Explains a recorded decision: every rule that was evaluated, in order, why it did or did not match, which rule decided, and the smallest set of changes that would allow it. The policy that decided is evaluated again on the recorded tags and facts. A caller without the permission to read all events sees the decisions of its own calls.',
  http: { method: 'GET', path: '/v1/policies/explain/{event_id}' },
  permission: 'audit:read_own',
  needs: 'journal',
  input: Type.Object({
    event_id: Type.String({ minLength: 1, maxLength: 64, description: 'The audit event.' }),
  }),
  output: Type.Object({
    event_id: Type.String(),
    timestamp: Type.String(),
    policy_hash: Type.String(),
    status: Type.Enum(['explained', 'policy_unavailable', 'no_decision', 'fault', 'incomplete']),
    reason: Type.String({ description: 'The meaning of the status, as a sentence.' }),
    recorded: Type.Object({ decision, action, rule: Type.String(), reason: Type.String() }),
    allowlist_entries: Type.Array(Type.String(), {
      description:
        'Entries for detectors whose findings no rule judged, as `customshouse allow list` shows them.',
    }),
    explanation: allowNull(explanationSchema, 'Only with the status `explained`.'),
  }),
  example: { event_id: 'evt_0123456789abcdef01234567' },
  answer: {
    event_id: 'evt_0123456789abcdef01234567',
    timestamp: '2026-01-31T12:00:00.000Z',
    policy_hash: 'sha256:38f38e7058a42e1293f8673967ba3d8f569db3907dc1d69e27690039ebe7275e',
    status: 'explained',
    reason: REASONS.explained,
    recorded: {
      decision: 'allow',
      action: 'allow',
      rule: 'default.allow',
      reason: 'Nothing was found that a rule acts on.',
    },
    allowlist_entries: [],
    explanation: {
      replayed: { decision: 'allow', action: 'allow', rule: 'default.allow' },
      matches_record: true,
      evaluations: [],
      monitored: [],
      enforced_result: null,
      not_evaluated: [],
      not_evaluated_truncated: 0,
      counterfactual: null,
    },
  },
  refusals: ['not_found'],
  async run({ event_id }, context) {
    const { caller, runtime } = context;
    if (!caller.permissions.includes('policy:read'))
      throw new Refusal('forbidden', 'The credential does not have the permission `policy:read`.');
    const event = await findVisibleEvent(event_id, context);
    const policy = await runtime.policyOf(event.policy_hash);
    // Imported on demand: the module imports the whole judge and takes long to load.
    const { explainDecision } = await import('../core/review/explain.ts');
    const explained =
      policy === null
        ? 'policy_unavailable'
        : explainDecision(event, Date.parse(event.timestamp), policy, await loadConditions(policy));
    const status: keyof typeof REASONS = typeof explained === 'string' ? explained : 'explained';
    return {
      event_id: event.event_id,
      timestamp: event.timestamp,
      policy_hash: event.policy_hash,
      status,
      reason: REASONS[status],
      recorded: {
        decision: event.decision,
        action: event.action,
        rule: event.policy_name,
        reason: event.reason,
      },
      allowlist_entries: readEntryIds(event),
      explanation: typeof explained === 'string' ? null : copyExplanation(explained, caller),
    };
  },
});

function readEntryIds({ metadata: { allowlist_entries } }: AuditEvent): string[] {
  return Array.isArray(allowlist_entries) ? [...allowlist_entries] : [];
}

/** Returns the event. An event that the caller may not see is reported as not found. */
async function findVisibleEvent(eventId: string, context: Context): Promise<AuditEvent> {
  const { events } = await findEvents({ event_id: eventId, limit: 1 }, context);
  const [event] = events;
  if (event !== undefined && maySee(event, context.caller)) return event;
  throw buildNoSuchEventRefusal();
}

function maySee({ caller_id, tenant_id, agent_id }: AuditEvent, caller: Caller): boolean {
  const { tenants, agents, permissions } = caller;
  return (
    (permissions.includes('audit:read') || caller_id === caller.id) &&
    coversName(tenants, tenant_id) &&
    coversName(agents, agent_id)
  );
}

/** Removes the rules of tenants that the caller may not act for. */
function copyExplanation(explained: Explanation, { tenants }: Caller) {
  const notEvaluated = explained.not_evaluated.filter(
    ({ tenant_id }) => tenant_id === null || coversName(tenants, tenant_id),
  );
  return structuredClone({ ...explained, not_evaluated: notEvaluated }) as Mutable<Explanation>;
}

type Mutable<T> = T extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Mutable<T[Key]> }
    : T;
