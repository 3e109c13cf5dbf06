import type { ContractMatch } from '../../core/decision/find-contract.ts';
import { buildFaultVerdict, judge } from '../../core/decision/judge.ts';
import type { ConditionEvaluator } from '../../core/policy/conditions/facts.ts';
import type { Classification, Crossing, Verdict } from '../../core/types/index.ts';
import type { ApprovalQuestion, ApprovalResolution } from './approval.ts';
import type { EnforcementPorts, UnrecordedRuling } from './types.ts';

/** The parts of a request that an approval depends on; `null` if no approval is resolved, as in a self-test. */
export type ApprovalContext = Pick<
  ApprovalQuestion,
  'caller' | 'approval_request_id' | 'reuse_approval'
> | null;

/** Judges the crossing of one decision, as often as its session needs it. */
export interface VerdictResolver {
  readonly resolve: (crossing: Crossing) => Promise<UnrecordedRuling>;
  /** The time of `judge` so far, in milliseconds. */
  readonly scan_ms: () => number;
}

/**
 * Opens the resolver of one decision. The rules judge first. If they do not block, the classifiers are called once, and
 * the crossing is judged again with what they found. Then the approval is resolved.
 */
export function openVerdictResolver(
  { policy, fingerprintOf = null, resolveApproval, classifiers }: EnforcementPorts,
  conditions: ConditionEvaluator | null,
  contract: ContractMatch,
  approvalContext: ApprovalContext,
): VerdictResolver {
  let scanMs = 0;
  let classification: Promise<Classification> | null = null;
  let countedGrantId: string | undefined;
  const judgeCrossing = (crossing: Crossing): Verdict =>
    judge(crossing, policy, fingerprintOf, conditions, contract);
  const judgeTimed = (crossing: Crossing): Verdict => {
    const beganMs = performance.now();
    const judged = judgeCrossing(crossing);
    scanMs += performance.now() - beganMs;
    return judged;
  };
  const resolveJudged = async (judged: Verdict, crossing: Crossing): Promise<ApprovalResolution> => {
    if (judged.action !== 'require_approval' || resolveApproval === undefined || approvalContext === null)
      return { verdict: judged, approval: null };
    const judgeWith = (approvedRules: readonly string[]) =>
      judgeCrossing({ ...crossing, approved_rules: approvedRules });
    const resolved = await resolveApproval({
      ...{ judged, crossing, ...approvalContext, judgeWith },
      ...(countedGrantId !== undefined && { counted_grant_id: countedGrantId }),
    });
    countedGrantId = resolved.grant_id ?? countedGrantId;
    return resolved;
  };
  const resolve = async (crossing: Crossing): Promise<UnrecordedRuling> => {
    const judged = judgeTimed(crossing);
    if (classifiers === undefined || judged.action === 'block' || !classifiers.appliesTo(crossing))
      return { crossing, ...(await resolveJudged(judged, crossing)) };
    classification ??= classifiers.classify(crossing, judged.findings);
    const answered = await classification.catch(() => null);
    if (answered === null) return { crossing, verdict: buildFaultVerdict(policy), approval: null };
    const classified = { ...crossing, classification: answered };
    const verdict = addsNothing(answered) ? judged : judgeTimed(classified);
    return { crossing, ...(await resolveJudged(verdict, classified)), classification: answered };
  };
  return { resolve, scan_ms: () => scanMs };
}

/** Returns whether the classifiers change nothing about a verdict. */
export function addsNothing({ findings, coverage }: Classification): boolean {
  return findings.length === 0 && coverage.status === 'full';
}
