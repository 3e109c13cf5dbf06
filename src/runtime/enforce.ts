import { hasConditions } from '../core/conditions/facts.ts';
import { faulty, judge } from '../core/decide.ts';
import type { Crossing, Verdict } from '../core/types.ts';
import type { Settled } from './approvals/types.ts';
import { conditionsOf } from './conditions.ts';
import { auditEvent, type LoggedTexts } from './record.ts';
import { type Decided, decideInSession, needsSession, whyStopped } from './sessions/index.ts';
import type { Caller, Endpoint, Ports, Ruling } from './types.ts';

const NO_TEXTS: LoggedTexts = { inputs: false, outputs: false };

/**
 * The road to a verdict: look up what the session has read, judge, settle what asks for approval, keep what is read,
 * then write down. Gives the ruling when its event is durable, and never before. Never rejects: a ruling that
 * cannot be recorded is a block, and so is one that needs to know of a session where nobody can tell.
 */
export async function enforce(
  given: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  ports: Ports,
  approval_request_id: string | null = null,
): Promise<Ruling> {
  const event_id = ports.new_event_id(given.now_ms);
  const began_ms = performance.now();
  let scan_ms = 0;
  // Without what evaluates conditions they restrict and never allow.
  const conditions = hasConditions(ports.policy) ? await conditionsOf(ports.policy).catch(() => null) : null;
  const decide = async (crossing: Crossing): Promise<Settled> => {
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
  const { crossing, outcome: settled } = await inSession(given, decide, ports);
  return give(settled, { scan_ms, began_ms }, event_id, crossing, caller, endpoint, ports);
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
  const { verdict, approval } = await recorded(settled, event_id, crossing, caller, endpoint, ports);
  const ruling: Ruling = { verdict, approval, event_id, scan_duration_ms: Math.round(scan_ms) };
  ports.observe?.(ruling, crossing, endpoint, scan_ms / 1_000);
  ports.telemetry?.checked({ ...ruling, crossing, component: endpoint, began_ms });
  return ruling;
}

/** The one catch around sessions: where they cannot be read or kept, nothing goes through. */
async function inSession(
  crossing: Crossing,
  decide: (crossing: Crossing) => Promise<Settled>,
  { policy, sessions, unkept }: Ports,
): Promise<Decided<Settled>> {
  if (!needsSession(crossing, policy)) return { crossing, outcome: await decide(crossing) };
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

/** The one catch around recording: what is not written down is not given. */
async function recorded(
  settled: Settled,
  event_id: string,
  crossing: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  ports: Ports,
): Promise<Settled> {
  try {
    const logged = ports.logged ?? NO_TEXTS;
    const typed_redaction = ports.policy.redaction.typed;
    const { verdict, approval, approved_rules } = settled;
    const granted = approved_rules === undefined ? crossing : { ...crossing, approved_rules };
    const decided = { event_id, crossing: granted, verdict, approval, caller, endpoint };
    await ports.record(auditEvent({ ...decided, logged, typed_redaction }));
    return settled;
  } catch (fault) {
    ports.unrecorded?.(fault);
    return { verdict: unrecordable(settled.verdict), approval: null };
  }
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
