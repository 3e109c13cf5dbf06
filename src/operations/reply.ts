import { type ContentMark, listContentMarks } from '../core/decision/content-marks.ts';
import { describePendingApproval } from '../core/decision/deciding-documents.ts';
import { buildViolationReplies, type ViolationReply } from '../core/decision/violation-reply.ts';
import type { Content, Verdict } from '../core/types/index.ts';
import type { ApprovalState } from '../runtime/enforcement/approval.ts';
import type { Ruling } from '../runtime/enforcement/types.ts';

/** The members that every check answers with. Each operation adds the changed content under a name of its own. */
export interface VerdictReply {
  readonly decision: Verdict['decision'];
  readonly action: Verdict['action'];
  readonly rule: string;
  readonly reason: string;
  readonly help?: string;
  readonly event_id: string;
  readonly violations: readonly ViolationReply[];
  readonly scan_duration_ms: number;
  readonly coverage: 'full' | 'partial';
  readonly coverage_reason?: string;
  readonly coverage_bytes?: number;
  readonly fallback_used?: boolean;
  readonly marks?: readonly ContentMark[];
  readonly approval?: ApprovalState;
  readonly fault?: boolean;
}

/**
 * Converts a ruling to the wire format. With `matches`, the violations contain the matched text, which is cut out of
 * the crossing only here. Only input scans ask for it, because their sender wrote the text.
 */
export function buildVerdictReply(ruling: Ruling, matches = false): VerdictReply {
  const { crossing, verdict, approval, event_id, help, scan_duration_ms } = ruling;
  const marks = listContentMarks(crossing, verdict);
  return {
    decision: verdict.decision,
    action: verdict.action,
    rule: verdict.rule,
    reason: verdict.reason,
    ...(help !== null && { help: addPendingApproval(help, approval) }),
    event_id,
    violations: buildViolationReplies(verdict, crossing.content, matches),
    scan_duration_ms,
    ...getCoverage(verdict),
    ...(verdict.fallback_used && { fallback_used: true }),
    ...(marks.length > 0 && { marks }),
    ...(approval !== null && { approval }),
    ...(verdict.fault && { fault: true }),
  };
}

/** Converts a ruling on a text to the wire format, with the text to use instead if there is any. */
export function buildTextReply(
  ruling: Ruling,
  matches: boolean,
): VerdictReply & { readonly modified_text?: string } {
  const reply = buildVerdictReply(ruling, matches);
  const changed = findChangedContent(ruling.verdict);
  return changed?.kind === 'text' ? { ...reply, modified_text: changed.text } : reply;
}

function addPendingApproval(help: string, approval: ApprovalState | null): string {
  return approval?.status === 'pending' ? `${help} ${describePendingApproval(approval.request_id)}` : help;
}

/** Returns the replacement content, if there is any: the changed content, or a rule's own text on a block. */
export function findChangedContent(verdict: Verdict): Content | null {
  return verdict.decision === 'modify' || verdict.fallback_used ? verdict.content : null;
}

function getCoverage({
  coverage,
}: Verdict): Pick<VerdictReply, 'coverage' | 'coverage_reason' | 'coverage_bytes'> {
  if (coverage.status === 'full') return { coverage: 'full' };
  return { coverage: 'partial', coverage_reason: coverage.reason, coverage_bytes: coverage.bytes };
}
