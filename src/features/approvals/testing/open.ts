import { judge } from '../../../core/decision/judge.ts';
import { celEvaluator } from '../../../core/policy/conditions/cel.ts';
import { buildTestCrossing, buildTestPolicy } from '../../../core/testing/policies.ts';
import type { Crossing, Policy } from '../../../core/types/index.ts';
import { openLocalBus } from '../../../platform/cluster/event-bus.ts';
import type { Store } from '../../../platform/store/index.ts';
import { AGENT_TOKEN_CALLER, buildOperatorCaller } from '../../../runtime/access/callers.ts';
import type { Caller } from '../../../runtime/access/types.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import type { ApprovalResolution } from '../../../runtime/enforcement/approval.ts';
import { openApprovals } from '../index.ts';
import type { ApprovalLimits, ApprovalsParts } from '../parts.ts';
import type { Approvals } from '../types.ts';

export const ANN = buildOperatorCaller('cli:ann');
export const BOB = buildOperatorCaller('cli:bob');
export const AGENT = AGENT_TOKEN_CALLER;
export const ALL = () => true;

export const LIMITS: ApprovalLimits = {
  ttl_ms_max: 86_400_000,
  pending_max: 10_000,
  pending_per_agent_max: 100,
  arguments_bytes_max: 16_384,
  keep_ms: 7_776_000_000,
  second_factor_ms_max: 600_000,
  grant_ttl_ms_max: 86_400_000,
  grant_uses_max: 100,
  grants_per_agent_max: 50,
};

const ask = (name: string, tool: string, more: object = {}) => ({
  name,
  boundary: 'action',
  action: 'require_approval',
  condition: { tools: [tool] },
  ...more,
});

/**
 * Requires one approver for `pay`, two for `wire` and a second factor for `ship`, and always blocks `drop`.
 */
export const POLICY: Policy = buildTestPolicy({
  rules: [
    ask('pay-asks', 'pay', { approval: { ttl: '30m' } }),
    ask('wire-asks', 'wire', { approval: { ttl: '30m', min_approvals: 2 } }),
    ask('ship-asks', 'ship', { approval: { ttl: '30m', require_second_factor: true } }),
    ask('long-asks', 'long', { approval: { ttl: '52w' } }),
    { name: 'no-drop', boundary: 'action', action: 'block', condition: { tools: ['drop'] } },
  ],
});

/** The approvals of one process, with a clock and a journal that the test controls. */
export interface TestApprovals {
  readonly approvals: Approvals;
  readonly parts: ApprovalsParts;
  readonly clock: { now_ms: number };
  readonly events: AuditEvent[];
  /** Set to make the journal fail. */
  readonly journal: { fault: Error | null };
  readonly faults: unknown[];
  /** Judges a crossing up to the point at which its approval is resolved. */
  readonly check: (
    parts?: Partial<Crossing>,
    requestId?: string | null,
    caller?: Caller,
  ) => Promise<ApprovalResolution>;
}

export const START_MS = Date.UTC(2026, 0, 31, 12);

export function openTestApprovals(
  store: Store,
  limits: Partial<ApprovalLimits> = {},
  hasWebhook = false,
  policies = { active: POLICY },
): TestApprovals {
  const clock = { now_ms: START_MS };
  const journal: TestApprovals['journal'] = { fault: null };
  const events: AuditEvent[] = [];
  const faults: unknown[] = [];
  const parts: ApprovalsParts = {
    store: async () => store,
    record: async (event) => {
      if (journal.fault !== null) throw journal.fault;
      events.push(event);
    },
    now_ms: () => clock.now_ms,
    limits: { ...LIMITS, ...limits },
    policy: () => policies.active,
    has_webhook: hasWebhook,
    links: null,
    secret: () => 's'.repeat(43),
    bus: openLocalBus(),
    reportFault: (_what, fault) => void faults.push(fault),
  };
  const approvals = openApprovals(parts);
  const check: TestApprovals['check'] = (parts = {}, approvalRequestId = null, caller = AGENT) => {
    const crossing = getCall(parts);
    const policy = policies.active;
    return approvals.resolve({
      judged: judge(crossing, policy, null, celEvaluator),
      crossing,
      caller,
      approval_request_id: approvalRequestId,
      judgeWith: (approvedRules) =>
        judge({ ...crossing, approved_rules: approvedRules }, policy, null, celEvaluator),
    });
  };
  return { approvals, parts, clock, events, journal, faults, check };
}

/** Returns a call of `pay` by one agent in one session. `parts` replace its fields. */
export function getCall(parts: Partial<Crossing> = {}): Crossing {
  return buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    tool: 'pay',
    agent_id: 'clerk',
    source_agent_id: 'clerk',
    destination_agent_id: 'pay',
    session_id: 's-1',
    content: { kind: 'json', value: { amount: 12, to: 'acme' } },
    ...parts,
  });
}
