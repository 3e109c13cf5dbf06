/** Decides a scenario's assertions by what the product answered and recorded, and by nothing else. */
import type { AuditEvent, Outcome, Played } from './play.ts';
import type { Assertion, AssertionParams } from './scenarios.ts';

export interface Finding {
  readonly kind: string;
  readonly holds: boolean;
  /** The answer, event field or status that shows it. */
  readonly evidence: string;
}

type Check = (params: AssertionParams, played: Played) => Omit<Finding, 'kind'>;

/** The event field for each name in the scenarios. `user_id` is there only if a credential proves the person. */
const FIELDS: Readonly<Record<string, (event: AuditEvent) => unknown>> = {
  timestamp: ({ timestamp }) => timestamp,
  tenant: ({ tenant_id }) => tenant_id,
  actor_uid: ({ user_id }) => user_id,
  actor_email: ({ user_email }) => user_email,
  tool: ({ tool_name }) => tool_name,
  decision: ({ decision }) => (decision === 'block' ? 'deny' : 'allow'),
  reason: ({ reason }) => reason,
  trace_id: ({ trace_id }) => trace_id,
  chain: ({ chain }) => chain,
  // The scenario means the agent's tier.
  extra: ({ agent_tier }) => agent_tier,
};

const CHECKS: Readonly<Record<string, Check>> = {
  tool_allowed: (params, played) => checkOutcomes(params, played, true),
  tool_denied: (params, played) => checkOutcomes(params, played, false),
  audit_has_entry: (params, { events }) => {
    const found = events.find((event) => matchesEvent(event, params));
    return { holds: found !== undefined, evidence: found === undefined ? 'no such event' : showEvent(found) };
  },
  audit_attribution: ({ tool, actor_uid }, { events }) => {
    const users = new Set(selectEvents(events, tool).map((event) => FIELDS.actor_uid!(event)));
    const named = [...users].map((user) => user ?? 'no user').join(', ');
    return { holds: users.size === 1 && users.has(actor_uid), evidence: `events name ${named || 'no user'}` };
  },
  audit_field_present: ({ tool, fields = [] }, { events }) => {
    const selected = selectEvents(events, tool);
    const missing = fields.filter((name) => selected.some((event) => !isSet(FIELDS[name]!(event))));
    const evidence =
      missing.length > 0 ? `events without ${missing.join(', ')}` : `events with ${fields.join(', ')}`;
    return { holds: selected.length > 0 && missing.length === 0, evidence };
  },
  delegation_chain: ({ tool, chain = [] }, { events }) => {
    const chains = selectEvents(events, tool).map((event) => FIELDS.chain!(event));
    const holds = chains.length > 0 && chains.every((each) => JSON.stringify(each) === JSON.stringify(chain));
    return { holds, evidence: `chain in events: ${JSON.stringify(chains[0]) ?? 'none'}` };
  },
  rate_limited_count: ({ filter = {}, max_allowed = 0 }, { outcomes }) => {
    const selected = outcomes.filter((outcome) => matchesOutcome(outcome, filter));
    const allowed = selected.filter(({ is_allowed }) => is_allowed).length;
    return {
      holds: selected.length > 0 && allowed <= max_allowed,
      evidence: `${allowed} of ${selected.length} verdicts allow, at most ${max_allowed} may`,
    };
  },
  no_cross_tenant_leak: ({ allowed_pairs = [] }, { events }) => {
    const wanted = allowed_pairs.map(({ tenant, tool }) => `${tenant} ${tool}`).toSorted();
    const recorded = [
      ...new Set(events.map(({ tenant_id, tool_name }) => `${tenant_id} ${tool_name}`)),
    ].toSorted();
    return { holds: wanted.join() === recorded.join(), evidence: `events of ${recorded.join(', ')}` };
  },
  gateway_reachable: ({ reachable = true }, { is_reachable }) => ({
    holds: is_reachable === reachable,
    evidence: `GET /v1/health ${is_reachable ? 'answers 200' : 'fails'}`,
  }),
  runner_errors_empty: (_, { errors, outcomes }) => ({
    holds: errors.length === 0,
    evidence: errors[0] ?? `${outcomes.length} answers, none of them an error`,
  }),
};

export function decideAssertion({ kind, params }: Assertion, played: Played): Finding {
  const check = CHECKS[kind];
  if (check === undefined) throw new Error(`The assertion \`${kind}\` is not known.`);
  return { kind, ...check(params, played) };
}

function checkOutcomes(params: AssertionParams, { outcomes }: Played, isAllowed: boolean) {
  const selected = outcomes.filter((outcome) => matchesOutcome(outcome, params));
  const wrong = selected.find((outcome) => outcome.is_allowed !== isAllowed);
  return {
    holds: selected.length > 0 && wrong === undefined,
    evidence: (wrong ?? selected[0])?.evidence ?? 'no such call',
  };
}

function matchesOutcome(
  outcome: Outcome,
  { tool, as_user, as_tenant, agent_name, agent_tier }: AssertionParams,
) {
  const wanted = Object.entries({ tool, as_user, as_tenant, agent_name, agent_tier });
  return wanted.every(([name, value]) => value === undefined || outcome[name as keyof Outcome] === value);
}

function matchesEvent(
  event: AuditEvent,
  { tool, actor_uid, actor_email, decision }: AssertionParams,
): boolean {
  const wanted = Object.entries({ tool, actor_uid, actor_email, decision });
  return wanted.every(([name, value]) => value === undefined || FIELDS[name]!(event) === value);
}

function selectEvents(events: readonly AuditEvent[], tool: string | undefined): readonly AuditEvent[] {
  return events.filter(({ tool_name }) => tool === undefined || tool_name === tool);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function showEvent({ tool_name, decision, caller_id }: AuditEvent): string {
  return `event of ${tool_name}, ${decision}, caller ${caller_id}`;
}
