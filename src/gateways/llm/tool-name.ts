import { findContract } from '../../core/decision/find-contract.ts';
import { judge } from '../../core/decision/judge.ts';
import { redactPart } from '../../core/decision/redact.ts';
import type { Crossing, Verdict } from '../../core/types/index.ts';
import { buildTextCrossing } from '../../runtime/enforcement/crossings.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';

/** The name of a tool in a model's answer, which the model may have made up. */
export interface JudgedToolName {
  /** The name as events may record it. */
  readonly shown: string;
  /** The policy's refusal of a text with this name; `null` if there is none. */
  readonly refusal: Pick<Verdict, 'rule' | 'reason'> | null;
}

/** Judges the name of a tool as a text of the answer, unless the policy itself names the tool. */
export function judgeToolName(
  crossing: Crossing,
  { policy, fingerprintOf = null }: EnforcementPorts,
): JudgedToolName {
  const { tool } = crossing;
  const contract = findContract(crossing, policy);
  if (tool === null || (contract !== null && contract !== 'undeclared'))
    return { shown: tool ?? '', refusal: null };
  const content = { kind: 'text', text: tool } as const;
  const request = buildTextCrossing('output', { ...crossing, declared_tags: [] }, content);
  const { decision, rule, reason, findings, allowlisted_findings } = judge(request, policy, fingerprintOf);
  const shown = redactPart(tool, findings, policy.redaction.typed);
  const isFound = findings.length + allowlisted_findings.length > 0;
  return { shown, refusal: decision === 'allow' || !isFound ? null : { rule, reason } };
}
