import { covers, isFact } from '../tags.ts';
import type {
  Action,
  Coverage,
  Crossing,
  Finding,
  JudgedFinding,
  Phase,
  Policy,
  Rule,
  Tag,
} from '../types/index.ts';
import { granted, type RuleFor, strictest } from './rules.ts';

/** One voice among those of which the strictest decides. */
export interface Outcome {
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
  readonly fallback_template: string | null;
  /** A rule's own terms of approval. */
  readonly approval?: Rule['approval'];
}

/** What it comes to when nobody speaks. */
export const SILENCE: Outcome = {
  action: 'allow',
  rule: 'default.allow',
  reason: 'Nothing was found that a rule acts on.',
  fallback_template: null,
};

/** What a rule says. */
export function outcomeOf({ action, name, reason, fallback_template, approval }: Rule): Outcome {
  return { action, rule: name, reason, fallback_template, approval };
}

/** What it comes to when not all was looked at. */
export function outcomeOfCoverage(coverage: Coverage & { readonly status: 'partial' }): Outcome {
  return { action: 'block', rule: 'coverage.exceeded', reason: coverage.reason, fallback_template: null };
}

/** What it comes to that the contract of a tool takes fields away. */
export function outcomeOfStripping(phase: Phase | null): Outcome {
  const rule = phase === 'response' ? 'contract.emits.fields' : 'contract.accepts.fields';
  const reason = 'The contract of the tool leaves some fields out.';
  return { action: 'redact', rule, reason, fallback_template: null };
}

/** Where a tag is evaluated. */
export type Where = Pick<Crossing, 'boundary' | 'phase' | 'approved_rules'>;

/** What a tag comes to that no rule names. */
export function outcomeOfDefault(
  tag: Tag,
  { default_action }: Policy,
  { boundary, phase, approved_rules }: Where,
): Outcome {
  const place = phase === null ? `\`${boundary}\`` : `\`${boundary}\` in the phase \`${phase}\``;
  const reason = `No rule at ${place} names the tag \`${tag}\`, and the default action is \`${default_action}\`.`;
  const rule = `default.${default_action}`;
  return granted({ action: default_action, rule, reason, fallback_template: null }, rule, approved_rules);
}

/** A finding with its rule, and what it comes to. */
export interface Judged {
  readonly finding: JudgedFinding;
  /** `null` where only facts were seen, on which no rule acts. */
  readonly outcome: Outcome | null;
}

/** The strictest over the finding's tags decides on it. */
export function judgeFinding(finding: Finding, policy: Policy, ruleFor: RuleFor, where: Where): Judged {
  const spoken: (Outcome & { readonly spokenBy: Rule | null })[] = [];
  for (const tag of finding.tags) {
    const rule = ruleFor({ tag, severity: finding.severity });
    if (rule !== null) spoken.push({ ...outcomeOf(rule), spokenBy: rule });
    else if (!isFact(tag)) spoken.push({ ...outcomeOfDefault(tag, policy, where), spokenBy: null });
  }
  const spoken_most = strictest(spoken);
  const outcome = finding.example === true ? cappedForExample(spoken_most) : spoken_most;
  const { action, rule } = outcome ?? SILENCE;
  const severity = outcome?.spokenBy?.severity ?? finding.severity;
  return {
    finding: { ...finding, detected_severity: finding.severity, severity, action, rule },
    outcome,
  };
}

/** A documented example opens nothing: rules may let it pass or flag it, and do no more. */
function cappedForExample<Spoken extends Outcome>(outcome: Spoken | null): Spoken | null {
  if (outcome === null || outcome.action === 'allow' || outcome.action === 'flag') return outcome;
  return {
    ...outcome,
    action: 'flag',
    rule: 'detection.example_values',
    reason: 'A documented example of a secret was found.',
    fallback_template: null,
  };
}

/**
 * What a declared tag comes to. `accepted` is one that a document lets pass where no rule names it. A mask needs a
 * place: where the rule says `redact` and nothing that was found and masked carries the tag, masking cannot honour
 * it, and it blocks.
 */
export function outcomeOfDeclared(
  tag: Tag,
  policy: Policy,
  ruleFor: RuleFor,
  masked: readonly JudgedFinding[],
  accepted: Tag | null,
  where: Where,
): Outcome[] {
  const rule = ruleFor({ tag, severity: null });
  if (rule === null && (isFact(tag) || tag === accepted)) return [];
  const outcome = rule === null ? outcomeOfDefault(tag, policy, where) : outcomeOf(rule);
  if (outcome.action !== 'redact' || masked.some(({ tags }) => tags.some((each) => covers(tag, each)))) {
    return [outcome];
  }
  const reason = 'The rule asks for redaction of a declared tag, and nothing was found that could be masked.';
  return [{ ...outcome, action: 'block', reason }];
}
