import { type Conditions, hasConditions } from '../core/conditions/facts.ts';
import { faulty, judge } from '../core/decide.ts';
import type { Crossing, Policy, Verdict } from '../core/types.ts';
import type { Settled } from './approvals/types.ts';
import { conditionsOf } from './conditions.ts';
import { auditEvent, type LoggedTexts } from './record.ts';
import { type Decided, type Deciding, decideInSession, needsSession, whyStopped } from './sessions/index.ts';
import type { AuditEvent, Caller, Endpoint, Ports, Ruling } from './types.ts';

const NO_TEXTS: LoggedTexts = { inputs: false, outputs: false };

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
): Promise<Ruling> {
  const event_id = ports.new_event_id(given.now_ms);
  const began_ms = performance.now();
  let scan_ms = 0;
  const decideBy = (conditions: Conditions | null) => {
    const decide = (crossing: Crossing): Settled | Promise<Settled> => {
      const before_ms = performance.now();
      const judgeWith = (approved_rules?: readonly string[]): Verdict => {
        const asked = approved_rules === undefined ? crossing : { ...crossing, approved_rules };
        return judge(asked, ports.policy, ports.fingerprintOf ?? null, conditions);
      };
      const judged = judgeWith();
      scan_ms += performance.now() - before_ms;
      if (judged.action !== 'require_approval' || ports.settle === undefined)
        return { verdict: judged, approval: null };
      return ports.settle({ judged, crossing, caller, approval_request_id, judgeWith });
    };
    return needsSession(given, ports.policy)
      ? inSession(given, decide, ports)
      : after(decide(given), (outcome) => ({ crossing: given, outcome }));
  };
  const finish = ({ crossing, outcome }: Decided<Settled>): Promise<Ruling> =>
    give(outcome, { scan_ms, began_ms }, event_id, crossing, caller, endpoint, ports);
  const decided = after(conditionsFor(ports.policy), decideBy);
  return decided instanceof Promise ? decided.then(finish) : finish(decided);
}

/** Goes on at once with what is there already: most requests wait for nothing but their record. */
function after<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Without what evaluates conditions they restrict and never allow. */
function conditionsFor(policy: Policy): Promise<Conditions | null> | null {
  return hasConditions(policy) ? conditionsOf(policy).catch(() => null) : null;
}

/** Why something is refused before anything was looked at. */
export interface Objected {
  /** A stable name, `memory.undeclared`. */
  readonly rule: string;
  /** One sentence, in words of ours. */
  readonly reason: string;
  readonly fault?: boolean;
}

/** Blocks without a look at the content, which is not to be in the crossing, and writes it down. Never rejects. */
export function refuse(
  { rule, reason, fault = false }: Objected,
  crossing: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  ports: Ports,
): Promise<Ruling> {
  const event_id = ports.new_event_id(crossing.now_ms);
  const { hash: policy_hash } = ports.policy;
  const coverage = { status: 'full' } as const;
  const verdict: Verdict = { ...BLOCK, rule, reason, fault, coverage, policy_hash };
  const times = { scan_ms: 0, began_ms: performance.now() };
  return give({ verdict, approval: null }, times, event_id, crossing, caller, endpoint, ports);
}

/** What `judge` took, and when the check began by `performance.now()`, in milliseconds. */
interface Times {
  readonly scan_ms: number;
  readonly began_ms: number;
}

async function give(
  settled: Settled,
  { scan_ms, began_ms }: Times,
  event_id: string,
  crossing: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  ports: Ports,
): Promise<Ruling> {
  let { verdict, approval } = settled;
  // The one catch around recording: what is not written down is not given.
  try {
    await ports.record(eventOf(settled, event_id, crossing, caller, endpoint, ports));
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

/** The one catch around sessions: where they cannot be read or kept, nothing goes through. */
async function inSession(
  crossing: Crossing,
  decide: Deciding<Settled>['decide'],
  { policy, sessions, unkept }: Ports,
): Promise<Decided<Settled>> {
  try {
    if (sessions === undefined) throw new Error('There is nothing here that keeps sessions.');
    return await decideInSession(crossing, policy, sessions, { decide, verdictOf: ({ verdict }) => verdict });
  } catch (fault) {
    const { rule, reason, is_fault } = whyStopped(fault);
    if (is_fault) unkept?.(fault);
    const coverage = { status: 'full' } as const;
    const verdict: Verdict = { ...faulty(policy), rule, reason, fault: is_fault, coverage };
    return { crossing, outcome: { verdict, approval: null } };
  }
}

function eventOf(
  { verdict, approval, approved_rules }: Settled,
  event_id: string,
  crossing: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  { logged = NO_TEXTS, policy }: Ports,
): AuditEvent {
  const granted = approved_rules === undefined ? crossing : { ...crossing, approved_rules };
  const decided = { event_id, crossing: granted, verdict, approval, caller, endpoint };
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
  allowed_findings: [],
  breaches: [],
  data_tags: [],
  content: null,
  stripped_fields: [],
  fallback_used: false,
  monitored: [],
  approval: null,
  would_be: null,
  session_change: null,
} as const;
