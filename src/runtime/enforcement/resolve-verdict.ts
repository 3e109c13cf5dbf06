import type { ContractMatch } from '../../core/decision/contracts.ts';
import { buildFaultVerdict, judge } from '../../core/decision/judge.ts';
import type { ConditionEvaluator } from '../../core/policy/conditions/facts.ts';
import type { Classification, Crossing, Verdict } from '../../core/types/index.ts';
import type { ApprovalQuestion, ResolvedVerdict } from './approvals/types.ts';
import type { EnforcementPorts } from './types.ts';

/** The parts of a request that an approval depends on; `null` if no approval is resolved, as in a self-test. */
export type ApprovalContext = Pick<
  ApprovalQuestion,
  'caller' | 'approval_request_id' | 'reuse_approval'
> | null;

/** Judges the crossing of one decision, as often as its session needs it. */
export interface VerdictResolver {
  readonly resolve: (crossing: Crossing) => ResolvedVerdict | Promise<ResolvedVerdict>;
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
  approval_context: ApprovalContext,
): VerdictResolver {
  let scan_ms = 0;
  let classification: Promise<Classification> | null = null;
  const resolveJudged = (judged: Verdict, crossing: Crossing): ResolvedVerdict | Promise<ResolvedVerdict> => {
    if (judged.action !== 'require_approval' || resolveApproval === undefined || approval_context === null)
      return { verdict: judged, approval: null };
    const judgeWith = (approved_rules: readonly string[]): Verdict =>
      judge({ ...crossing, approved_rules }, policy, fingerprintOf, conditions, contract);
    return resolveApproval({ judged, crossing, ...approval_context, judgeWith });
  };
  const resolveClassified = async (
    judged: Verdict,
    crossing: Crossing,
    called: Promise<Classification>,
  ): Promise<ResolvedVerdict> => {
    const answered = await called.catch(() => null);
    if (answered === null) return { verdict: buildFaultVerdict(policy), approval: null };
    const classified = { ...crossing, classification: answered };
    const resolved = addsNothing(answered) ? resolveJudged(judged, classified) : resolve(classified);
    return { ...(await resolved), classification: answered };
  };
  // `judge` is called here without a function between, because the path of a request to it is kept short.
  const resolve = (crossing: Crossing): ResolvedVerdict | Promise<ResolvedVerdict> => {
    const began_ms = performance.now();
    const judged = judge(crossing, policy, fingerprintOf, conditions, contract);
    scan_ms += performance.now() - began_ms;
    const is_classified = crossing.classification !== undefined;
    if (
      classifiers === undefined ||
      is_classified ||
      judged.action === 'block' ||
      !classifiers.appliesTo(crossing)
    )
      return resolveJudged(judged, crossing);
    classification ??= classifiers.classify(crossing, judged.findings);
    return resolveClassified(judged, crossing, classification);
  };
  return { resolve, scan_ms: () => scan_ms };
}

/** Returns whether the classifiers change nothing about a verdict. */
export function addsNothing({ findings, coverage }: Classification): boolean {
  return findings.length === 0 && coverage.status === 'full';
}
