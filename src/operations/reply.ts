import { collectLeafTexts } from '../core/json/walk.ts';
import { convertToCodePoints } from '../core/text/offsets.ts';
import type { Content, JudgedFinding, Verdict, Violation, ViolationType } from '../core/types/index.ts';
import type { ApprovalState } from '../runtime/enforcement/approvals/types.ts';
import type { JudgedCrossing } from '../runtime/enforcement/types.ts';

/** A finding or a violation in the wire format. */
export interface ViolationReply {
  readonly type: ViolationType;
  readonly detector: string;
  readonly severity: JudgedFinding['severity'];
  readonly match?: string;
  readonly rule_id?: string;
  readonly tag?: string;
  readonly tags?: string[];
  /** `true` if the match is a documented example of a secret. */
  readonly example?: true;
  readonly start?: number;
  readonly end?: number;
  readonly path?: string;
  readonly rule?: string;
  readonly reason?: string;
}

/** The members that every check answers with. Each operation adds the changed content under a name of its own. */
export interface VerdictReply {
  readonly decision: Verdict['decision'];
  readonly action: Verdict['action'];
  readonly rule: string;
  readonly reason: string;
  readonly event_id: string;
  readonly violations: ViolationReply[];
  readonly scan_duration_ms: number;
  readonly coverage: 'full' | 'partial';
  readonly coverage_reason?: string;
  readonly coverage_bytes?: number;
  readonly fallback_used?: true;
  readonly approval?: ApprovalState;
  readonly fault?: true;
}

/**
 * Converts a ruling to the wire format. With `matches`, the violations contain the matched text, which is cut out of
 * the crossing only here. Only input scans ask for it, because their sender wrote the text.
 */
export function buildVerdictReply({ ruling, crossing }: JudgedCrossing, matches = false): VerdictReply {
  const { verdict, approval, event_id, scan_duration_ms } = ruling;
  return {
    decision: verdict.decision,
    action: verdict.action,
    rule: verdict.rule,
    reason: verdict.reason,
    event_id,
    violations: violationsOf(verdict, crossing.content, matches),
    scan_duration_ms,
    ...coverageOf(verdict),
    ...(verdict.fallback_used && { fallback_used: true }),
    ...(approval !== null && { approval }),
    ...(verdict.fault && { fault: true }),
  };
}

/** Returns the replacement content, if there is any: the changed content, or a rule's own text on a block. */
export function findChangedContent(verdict: Verdict): Content | null {
  return verdict.decision === 'modify' || verdict.fallback_used ? verdict.content : null;
}

function coverageOf({
  coverage,
}: Verdict): Pick<VerdictReply, 'coverage' | 'coverage_reason' | 'coverage_bytes'> {
  if (coverage.status === 'full') return { coverage: 'full' };
  return { coverage: 'partial', coverage_reason: coverage.reason, coverage_bytes: coverage.bytes };
}

function violationsOf(verdict: Verdict, content: Content, matches: boolean): ViolationReply[] {
  const { violations } = verdict;
  // A finding that a rule allows is not a violation.
  const findings = verdict.findings.filter(({ action }) => action !== 'allow');
  if (findings.length === 0) return violations.map(brokenPromise);
  const texts = collectLeafTexts(content, findings);
  const byLeaf = Map.groupBy(findings, (finding) => finding.leaf);
  const shown = new Map<JudgedFinding, ViolationReply>();
  for (const [leaf, inLeaf] of byLeaf) {
    const text = texts.get(leaf) ?? '';
    const points = convertToCodePoints(
      text,
      inLeaf.flatMap((finding) => [finding.start, finding.end]),
    );
    inLeaf.forEach((finding, at) => {
      shown.set(finding, seen(finding, text, points[2 * at] ?? 0, points[2 * at + 1] ?? 0, matches));
    });
  }
  return [
    ...findings.map((finding) => shown.get(finding) as ViolationReply),
    ...violations.map(brokenPromise),
  ];
}

function seen(
  finding: JudgedFinding,
  text: string,
  start: number,
  end: number,
  matches: boolean,
): ViolationReply {
  return {
    type: finding.type,
    detector: finding.detector,
    severity: finding.severity,
    ...(matches && { match: text.slice(finding.start, finding.end) }),
    rule_id: finding.rule_id,
    tag: finding.tags[0],
    tags: [...finding.tags],
    ...(finding.example === true && { example: true }),
    start,
    end,
    ...(finding.path !== null && { path: finding.path }),
  };
}

/** The reported detector of violations that no detector found. */
const WATCHERS: Partial<Record<ViolationType, string>> = {
  contract_violation: 'tool_contract',
  identity_violation: 'agent_identity',
  flow_violation: 'session_flow',
  coverage_exceeded: 'scan_limits',
};

function brokenPromise(violation: Violation): ViolationReply {
  return {
    type: violation.type,
    detector: WATCHERS[violation.type] ?? 'policy',
    severity: violation.severity,
    rule: violation.rule,
    ...(violation.path !== null && { path: violation.path }),
    reason: violation.reason,
  };
}
