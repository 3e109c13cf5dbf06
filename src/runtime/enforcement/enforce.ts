import { buildFaultVerdict, judge } from '../../core/decision/judge.ts';
import { type ConditionEvaluator, hasConditions } from '../../core/policy/conditions/facts.ts';
import type { Coverage, Crossing, CrossingContext, Policy, Verdict } from '../../core/types/index.ts';
import type { Caller } from '../access/types.ts';
import type { AuditEvent } from '../audit/types.ts';
import type { Endpoint } from '../observability/endpoint.ts';
import { conditionsOf } from '../policies/conditions.ts';
import type { Settled } from './approvals/types.ts';
import { auditEvent, type LoggedTexts } from './record.ts';
import { type Decided, type Deciding, decideInSession, needsSession, whyStopped } from './sessions/index.ts';
import type { Extras, Ports, Ruling } from './types.ts';

const NO_TEXTS: LoggedTexts = { inputs: false, outputs: false };

/** A decision that is not written down yet: nothing of it may be told before `ruling` has resolved. */
export interface Decision {
  /** With what is known of its session. */
  readonly crossing: Crossing;
  readonly verdict: Verdict;
  /** Resolves when the event is durable; it blocks where it cannot be. Never rejects. */
  readonly ruling: Promise<Ruling>;
}

/**
 * The road to a verdict: look up what the session has read, judge, settle what asks for approval, keep what is read,
 * then write down. Gives the ruling when its event is durable, and never before. Never rejects: a ruling that
 * cannot be recorded is a block, and so is one that needs to know of a session where nobody can tell.
 */
export function enforce(
  given: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  ports: Ports,
  approval_request_id: string | null = null,
  extras: Extras = {},
): Promise<Ruling> {
  const decided = decide(given, caller, endpoint, ports, approval_request_id, extras);
  return decided instanceof Promise ? decided.then(({ ruling }) => ruling) : decided.ruling;
}

/** The same road, for who has something to do while the event is written. Never rejects. */
export function decide(
  given: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  ports: Ports,
  approval_request_id: string | null = null,
  extras: Extras = {},
): Decision | Promise<Decision> {
  const about = aboutOf(given, caller, endpoint, ports, extras);
  const stopped = agentBlockOn(given, ports);
  if (stopped !== null)
    return { crossing: given, verdict: stopped.verdict, ruling: give(stopped, 0, given, about) };
  let scan_ms = 0;
  const decideBy = (conditions: ConditionEvaluator | null) => {
    const decideOn = (crossing: Crossing): Settled | Promise<Settled> => {
      const before_ms = performance.now();
      const judgeWith = (approved_rules?: readonly string[]): Verdict => {
        const asked = approved_rules === undefined ? crossing : { ...crossing, approved_rules };
        return judge(asked, ports.policy, ports.fingerprintOf ?? null, conditions);
      };
      const judged = judgeWith();
      scan_ms += performance.now() - before_ms;
      if (judged.action !== 'require_approval' || ports.settle === undefined)
        return { verdict: judged, approval: null };
      const { reuse_approval = false } = extras;
      return ports.settle({ judged, crossing, caller, approval_request_id, reuse_approval, judgeWith });
    };
    return needsSession(given, ports.policy)
      ? inSession(given, decideOn, ports)
      : after(decideOn(given), (outcome) => ({ crossing: given, outcome }));
  };
  return after(after(conditionsFor(ports.policy), decideBy), ({ crossing, outcome }) => ({
    crossing,
    verdict: outcome.verdict,
    ruling: give(outcome, scan_ms, crossing, about),
  }));
}

/** The block by the kill switch, where it stops an agent that the crossing names; `null` otherwise. */
export function agentBlockOn(given: CrossingContext, { findAgentBlock, policy }: Ports): Settled | null {
  const found = findAgentBlock?.(given) ?? null;
  if (found === null) return null;
  const coverage = { status: 'full' } as const;
  const verdict: Verdict = { ...BLOCK, ...found, coverage, policy_hash: policy.hash, fault: false };
  return { verdict, approval: null };
}

/** Goes on at once with what is there already: most requests wait for nothing but their record. */
function after<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Without what evaluates conditions they restrict and never allow. */
export function conditionsFor(policy: Policy): Promise<ConditionEvaluator | null> | null {
  return hasConditions(policy) ? conditionsOf(policy).catch(() => null) : null;
}

/** What writing a decision down takes: of the policy no more than its name, and how masks look. */
export type RecordingPorts = Omit<Ports, 'policy'> & {
  readonly policy: Pick<Policy, 'hash' | 'redaction'>;
};

/** All that stands around one decision. */
export interface About {
  readonly event_id: string;
  readonly caller: Caller;
  readonly endpoint: Endpoint;
  readonly ports: RecordingPorts;
  readonly extras: Extras;
  /** When it began, by `performance.now()`. */
  readonly began_ms: number;
}

/** Gives a decision on a crossing its name. */
export function aboutOf(
  { now_ms }: Pick<Crossing, 'now_ms'>,
  caller: Caller,
  endpoint: Endpoint,
  ports: RecordingPorts,
  extras: Extras = {},
): About {
  const event_id = ports.new_event_id(now_ms);
  return { event_id, caller, endpoint, ports, extras, began_ms: performance.now() };
}

/** Why something is refused before anything was looked at. */
export interface Objected {
  /** A stable name, `memory.undeclared`. */
  readonly rule: string;
  /** One sentence, in words of ours. */
  readonly reason: string;
  readonly fault?: boolean;
  /** How much was looked at, where that is not what there was to look at. */
  readonly coverage?: Coverage;
}

/** Blocks without a look at the content, which is not to be in the crossing, and writes it down. Never rejects. */
export function refuse(
  { rule, reason, fault = false, coverage = { status: 'full' } }: Objected,
  crossing: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  ports: RecordingPorts,
  extras: Extras = {},
): Promise<Ruling> {
  const { hash: policy_hash } = ports.policy;
  const verdict: Verdict = { ...BLOCK, rule, reason, fault, coverage, policy_hash };
  return give({ verdict, approval: null }, 0, crossing, aboutOf(crossing, caller, endpoint, ports, extras));
}

/** Writes a decision down, and counts it. `scan_ms` is what `judge` took. Never rejects. */
export async function give(
  settled: Settled,
  scan_ms: number,
  judged: Crossing,
  about: About,
): Promise<Ruling> {
  const crossing = shownCrossing(judged, about.extras);
  const { event_id, endpoint, ports, began_ms } = about;
  let { verdict, approval } = settled;
  // The one catch around recording: what is not written down is not given.
  try {
    await ports.record(eventOf(settled, crossing, about));
  } catch (fault) {
    ports.unrecorded?.(fault);
    verdict = unrecordable(verdict);
    approval = null;
  }
  const ruling: Ruling = { verdict, approval, event_id, scan_duration_ms: Math.round(scan_ms) };
  ports.observe?.(ruling, crossing, endpoint, scan_ms / 1_000);
  ports.telemetry?.checked({ ...ruling, crossing, component: endpoint, began_ms });
  return ruling;
}

/** What was judged, under the name of the tool that may be recorded. */
function shownCrossing(crossing: Crossing, { shown_tool }: Extras): Crossing {
  const { tool, destination_agent_id } = crossing;
  if (shown_tool === undefined || shown_tool === tool) return crossing;
  const is_tool = destination_agent_id === tool;
  return { ...crossing, tool: shown_tool, destination_agent_id: is_tool ? shown_tool : destination_agent_id };
}

/** The one catch around sessions: where they cannot be read or kept, nothing goes through. */
export async function inSession(
  crossing: Crossing,
  decideOn: Deciding<Settled>['decide'],
  { policy, sessions, unkept }: Ports,
): Promise<Decided<Settled>> {
  try {
    if (sessions === undefined) throw new Error('There is nothing here that keeps sessions.');
    const deciding = { decide: decideOn, verdictOf: ({ verdict }: Settled) => verdict };
    return await decideInSession(crossing, policy, sessions, deciding);
  } catch (fault) {
    const { rule, reason, is_fault } = whyStopped(fault);
    if (is_fault) unkept?.(fault);
    const coverage = { status: 'full' } as const;
    const verdict: Verdict = { ...buildFaultVerdict(policy), rule, reason, fault: is_fault, coverage };
    return { crossing, outcome: { verdict, approval: null } };
  }
}

function eventOf(
  { verdict, approval, approved_rules }: Settled,
  crossing: Crossing,
  { event_id, caller, endpoint, ports, extras }: About,
): AuditEvent {
  const { logged = NO_TEXTS, policy } = ports;
  const granted = approved_rules === undefined ? crossing : { ...crossing, approved_rules };
  const about = extras.about?.(verdict);
  const decided = { event_id, crossing: granted, verdict, approval, caller, endpoint, about };
  return auditEvent({ ...decided, logged, typed_redaction: policy.redaction.typed });
}

/** A block that holds nothing of what was found: without a record, nothing about the text is told. */
function unrecordable(verdict: Verdict): Verdict {
  return {
    ...BLOCK,
    rule: 'fault.audit',
    reason: 'The decision could not be written to the audit journal, so it is not given.',
    coverage: verdict.coverage,
    policy_hash: verdict.policy_hash,
    fault: true,
  };
}

/** What every block that nothing was found for has in common. */
const BLOCK = {
  decision: 'block',
  action: 'block',
  findings: [],
  allowlisted_findings: [],
  violations: [],
  data_tags: [],
  content: null,
  stripped_fields: [],
  removed: [],
  fallback_used: false,
  monitored: [],
  approval: null,
  enforced_result: null,
  taint_change: null,
} as const;
