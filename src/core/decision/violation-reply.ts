import { collectLeafTexts } from '../json/walk.ts';
import { convertToCodePoints } from '../text/offsets.ts';
import type { Content, JudgedFinding, Verdict, Violation, ViolationType } from '../types/index.ts';

/** A finding or a violation in the wire format. */
export interface ViolationReply {
  readonly type: ViolationType;
  readonly detector: string;
  readonly severity: JudgedFinding['severity'];
  readonly match?: string;
  readonly rule_id?: string;
  readonly tag?: string;
  readonly tags?: readonly string[];
  /** `true` if the match is a documented example of a secret. */
  readonly example?: true;
  /** Set for a finding of a classifier. */
  readonly source?: 'classifier';
  readonly start?: number;
  readonly end?: number;
  readonly path?: string;
  readonly rule?: string;
  readonly reason?: string;
}

/**
 * Converts the findings and violations of a verdict to the wire format. With `matches`, they contain the matched text,
 * which is cut out of the content only here.
 */
export function buildViolationReplies(
  verdict: Verdict,
  content: Content,
  matches: boolean,
): ViolationReply[] {
  const { violations } = verdict;
  // A finding that a rule allows is not a violation.
  const findings = verdict.findings.filter(({ action }) => action !== 'allow');
  if (findings.length === 0) return violations.map(buildViolationReply);
  const texts = collectLeafTexts(content, findings);
  const byLeaf = new Map<number, JudgedFinding[]>();
  for (const finding of findings) {
    const others = byLeaf.get(finding.leaf);
    if (others === undefined) byLeaf.set(finding.leaf, [finding]);
    else others.push(finding);
  }
  const shown = new Map<JudgedFinding, ViolationReply>();
  for (const [leaf, inLeaf] of byLeaf) {
    const text = texts.get(leaf) ?? '';
    const points = convertToCodePoints(
      text,
      inLeaf.flatMap((finding) => [finding.start, finding.end]),
    );
    inLeaf.forEach((finding, at) => {
      shown.set(
        finding,
        buildFindingReply(finding, text, points[2 * at] ?? 0, points[2 * at + 1] ?? 0, matches),
      );
    });
  }
  return [
    ...findings.map((finding) => shown.get(finding) as ViolationReply),
    ...violations.map(buildViolationReply),
  ];
}

function buildFindingReply(
  finding: JudgedFinding,
  text: string,
  start: number,
  end: number,
  matches: boolean,
): ViolationReply {
  const hasPlace = finding.is_whole !== true;
  return {
    type: finding.type,
    detector: finding.detector,
    severity: finding.severity,
    ...(matches && hasPlace && { match: text.slice(finding.start, finding.end) }),
    rule_id: finding.rule_id,
    tag: finding.tags[0],
    tags: [...finding.tags],
    ...(finding.example === true && { example: true }),
    ...(finding.source !== undefined && { source: finding.source }),
    ...(hasPlace && { start, end }),
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

function buildViolationReply(violation: Violation): ViolationReply {
  return {
    type: violation.type,
    detector: WATCHERS[violation.type] ?? 'policy',
    severity: violation.severity,
    rule: violation.rule,
    ...(violation.path !== null && { path: violation.path }),
    reason: violation.reason,
  };
}
