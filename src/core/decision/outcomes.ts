import { covers, isFactTag } from '../tags.ts';
import type {
  Action,
  Coverage,
  Crossing,
  Finding,
  JudgedFinding,
  Phase,
  Policy,
  Rule,
  Severity,
  Tag,
} from '../types/index.ts';
import { requirePlace } from './classifier-findings.ts';
import { applyApproval, findStrictest, type TagRuleFinder } from './rules.ts';

/** One outcome of an evaluation. The strictest outcome decides. */
export interface RuleOutcome {
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
  readonly fallback_template: string | null;
  /** The severity that the rule sets itself. */
  readonly severity?: Severity;
  /** A rule's own terms of approval. */
  readonly approval?: Rule['approval'];
}

/** Outcome if no rule matches. */
export const DEFAULT_ALLOW: RuleOutcome = {
  action: 'allow',
  rule: 'default.allow',
  reason: 'Nothing was found that a rule acts on.',
  fallback_template: null,
};

/** Returns the outcome of a rule that matched. */
export function buildRuleOutcome(rule: Rule): RuleOutcome {
  const { action, name, reason, fallback_template, approval, severity } = rule;
  return {
    action,
    rule: name,
    reason,
    fallback_template,
    approval,
    ...(severity !== null && { severity }),
  };
}

/** Returns the outcome for content that was not scanned in full. */
export function buildCoverageOutcome(coverage: Coverage & { readonly status: 'partial' }): RuleOutcome {
  return { action: 'block', rule: 'coverage.exceeded', reason: coverage.reason, fallback_template: null };
}

/** Returns the outcome for content from which a contract removes fields. */
export function buildStrippingOutcome(phase: Phase | null): RuleOutcome {
  const rule = phase === 'response' ? 'contract.emits.fields' : 'contract.accepts.fields';
  const reason = 'The contract of the tool leaves some fields out.';
  return { action: 'redact', rule, reason, fallback_template: null };
}

/** Boundary and phase at which a tag is evaluated, with the approved rules. */
export type CrossingLocation = Pick<Crossing, 'boundary' | 'phase' | 'approved_rules'>;

/** Returns the outcome for a tag that no rule names. */
export function buildDefaultOutcome(
  tag: Tag,
  { default_action }: Policy,
  { boundary, phase, approved_rules }: CrossingLocation,
): RuleOutcome {
  const place = phase === null ? `\`${boundary}\`` : `\`${boundary}\` in the phase \`${phase}\``;
  const reason = `No rule at ${place} names the tag \`${tag}\`, and the default action is \`${default_action}\`.`;
  const rule = `default.${default_action}`;
  return applyApproval(
    { action: default_action, rule, reason, fallback_template: null },
    rule,
    approved_rules,
  );
}

/** A finding with its rule and outcome. */
export interface FindingEvaluation {
  readonly finding: JudgedFinding;
  /** `null` if no rule acts on the finding: it has fact tags only, or its detector is allowlisted. */
  readonly outcome: RuleOutcome | null;
}

/** Evaluates a finding. The strictest outcome of its tags decides. */
export function evaluateFinding(
  finding: Finding,
  policy: Policy,
  findRule: TagRuleFinder,
  location: CrossingLocation,
): FindingEvaluation {
  const outcomes: (RuleOutcome & { readonly matched_rule: Rule | null })[] = [];
  for (const tag of finding.tags) {
    const rule = findRule({ tag, severity: finding.severity, rule_id: finding.rule_id });
    if (rule !== null) outcomes.push({ ...buildRuleOutcome(rule), matched_rule: rule });
    else if (!isFactTag(tag) && finding.allowed_by === undefined)
      outcomes.push({ ...buildDefaultOutcome(tag, policy, location), matched_rule: null });
  }
  const strictest = findStrictest(outcomes);
  const outcome = finding.example === true ? capForExample(strictest) : placeOutcome(strictest, finding);
  const { action, rule } = outcome ?? DEFAULT_ALLOW;
  const severity = outcome?.matched_rule?.severity ?? finding.severity;
  return {
    finding: { ...finding, detected_severity: finding.severity, severity, action, rule },
    outcome,
  };
}

function placeOutcome<Outcome extends RuleOutcome>(
  outcome: Outcome | null,
  finding: Finding,
): Outcome | null {
  return outcome === null ? null : requirePlace(outcome, finding);
}

/** Limits the outcome for a documented example secret to `flag`. */
function capForExample<Outcome extends RuleOutcome>(outcome: Outcome | null): Outcome | null {
  if (outcome === null || outcome.action === 'allow') return outcome;
  if (outcome.action === 'flag' && !outcome.rule.startsWith('builtin.')) return outcome;
  return {
    ...outcome,
    action: 'flag',
    rule: 'detection.example_values',
    reason: 'A documented example of a secret was found.',
    fallback_template: null,
  };
}

/**
 * Evaluates a declared tag. `accepted` is a tag that a memory schema allows if no rule names it. A mask needs a
 * position: if the rule redacts and no masked finding carries the tag, the tag cannot be redacted and the outcome is
 * a block.
 */
export function evaluateDeclaredTag(
  tag: Tag,
  policy: Policy,
  findRule: TagRuleFinder,
  masked: readonly JudgedFinding[],
  accepted: Tag | null,
  location: CrossingLocation,
): RuleOutcome[] {
  const rule = findRule({ tag, severity: null });
  if (rule === null && (isFactTag(tag) || tag === accepted)) return [];
  const outcome = rule === null ? buildDefaultOutcome(tag, policy, location) : buildRuleOutcome(rule);
  if (outcome.action !== 'redact' || masked.some(({ tags }) => tags.some((each) => covers(tag, each)))) {
    return [outcome];
  }
  const reason = 'The rule asks for redaction of a declared tag, and nothing was found that could be masked.';
  return [{ ...outcome, action: 'block', reason }];
}
