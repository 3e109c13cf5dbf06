import { hasConditions } from '../core/conditions/facts.ts';
import { judge } from '../core/decide.ts';
import type { Crossing, Verdict } from '../core/types.ts';
import type { Settled } from './approvals/types.ts';
import { conditionsOf } from './conditions.ts';
import { auditEvent, type LoggedTexts } from './record.ts';
import type { Caller, Endpoint, Ports, Ruling } from './types.ts';

const NO_TEXTS: LoggedTexts = { inputs: false, outputs: false };

/**
 * The road to a verdict: judge, settle what asks for approval, then write down. Gives the ruling when its event
 * is durable, and never before. Never rejects: a ruling that cannot be recorded is a block.
 */
export async function enforce(
  crossing: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  ports: Ports,
  approval_request_id: string | null = null,
): Promise<Ruling> {
  const event_id = ports.new_event_id(crossing.now_ms);
  const before_ms = performance.now();
  // Without what evaluates conditions they restrict and never allow.
  const conditions = hasConditions(ports.policy) ? await conditionsOf(ports.policy).catch(() => null) : null;
  const judged = judge(crossing, ports.policy, ports.fingerprintOf ?? null, conditions);
  const scan_ms = performance.now() - before_ms;
  const settled =
    judged.action !== 'require_approval' || ports.settle === undefined
      ? { verdict: judged, approval: null }
      : await ports.settle({
          judged,
          crossing,
          caller,
          approval_request_id,
          judgeWith: (approved_rules) =>
            judge({ ...crossing, approved_rules }, ports.policy, ports.fingerprintOf ?? null, conditions),
        });
  const outcome = await recorded(settled, event_id, crossing, caller, endpoint, ports);
  const { verdict, approval } = outcome;
  const ruling: Ruling = { verdict, approval, event_id, scan_duration_ms: Math.round(scan_ms) };
  ports.observe?.(ruling, crossing, endpoint, scan_ms / 1_000);
  return ruling;
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
    decision: 'block',
    action: 'block',
    rule: 'fault.audit',
    reason: 'The decision could not be written to the audit journal, so it is not given.',
    findings: [],
    allowed_findings: [],
    breaches: [],
    data_tags: [],
    content: null,
    stripped_fields: [],
    fallback_used: false,
    coverage: verdict.coverage,
    monitored: [],
    approval: null,
    would_be: null,
    session_change: null,
    policy_hash: verdict.policy_hash,
    fault: true,
  };
}
