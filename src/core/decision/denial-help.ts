import { describeCommandRuleOnDemand } from '../detect/lazy.ts';
import { covers, isCoveredBy } from '../tags.ts';
import type { JudgedFinding, Rule, Tag, Verdict } from '../types/index.ts';
import { SEVERITIES } from '../types/index.ts';
import { isNeverAllowed } from './allowlist.ts';
import { describeDocument, findDecidingDocument } from './deciding-documents.ts';
import { isFlowRule } from './rules.ts';

/**
 * Returns the next steps for the reader of a denial: the effect of the call and its detector, another way, and how an operator
 * allows it. It follows the reason. `null` if nothing is denied.
 *
 * @param rules - the configured rules of the policy that decided
 * @param eventId - names several detectors at once; `null` if no event was written
 */
export function explainDenial(
  verdict: Verdict,
  rules: readonly Rule[],
  eventId: string | null,
): string | null {
  if (verdict.decision !== 'block') return null;
  const rule = rules.find(({ name }) => name === verdict.rule) ?? null;
  const document = rule === null ? findDecidingDocument(verdict.rule) : null;
  const decisive = verdict.findings.filter(({ action }) => action === verdict.action);
  const isByTag = rule === null ? document === null || isDefault(verdict) : rule.data_tags.length > 0;
  const worst = isByTag ? findWorst(decisive) : null;
  if (worst !== null) {
    const isBinding = rule !== null && (rule.tenant_id !== null || isFlowRule(rule));
    const cannotAllow = isBinding || worst.source === 'classifier';
    const change = cannotAllow ? describeChange(rule, verdict.rule) : describeAllow(worst, decisive, eventId);
    return `${describeFinding(worst)} ${change}`;
  }
  if (document !== null) return describeDocument(document);
  const change = describeChange(rule, verdict.rule);
  // A call that is held has no other way than to wait.
  return verdict.action === 'require_approval'
    ? change
    : `${describeOtherWay(verdict.data_tags, rule)} ${change}`;
}

function isDefault({ rule }: Verdict): boolean {
  return rule === 'default.block';
}

/** Returns the finding that is hardest to allow, the worst of these. */
function findWorst(decisive: readonly JudgedFinding[]): JudgedFinding | null {
  const rank = ({ tags, severity }: JudgedFinding): number =>
    SEVERITIES.indexOf(severity) + (isNeverAllowed(tags) ? SEVERITIES.length : 0);
  return decisive.reduce<JudgedFinding | null>(
    (before, each) => (before === null || rank(each) > rank(before) ? each : before),
    null,
  );
}

/** Families of findings, what they contain, and another way. */
const KINDS: readonly (readonly [tag: Tag, what: string, instead: string])[] = [
  ['secret', 'a secret', 'name an environment variable or a secret reference'],
  ['personal', 'personal data', 'leave it out'],
  ['injection', 'text that gives instructions to the agent', 'use another source'],
];

function describeFinding({ rule_id, tags }: JudgedFinding): string {
  const isCommand = tags.some((tag) => covers('dangerous', tag));
  const command = isCommand ? describeCommandRuleOnDemand(rule_id) : null;
  if (command !== null) return command;
  const [, what, instead] = KINDS.find(([tag]) => tags.some((each) => covers(tag, each))) ?? [
    '',
    `\`${tags[0]}\``,
    'leave it out',
  ];
  return `The content has ${what} (\`${rule_id}\`). Instead, ${instead}.`;
}

function describeAllow(
  { tags, rule_id }: JudgedFinding,
  decisive: readonly JudgedFinding[],
  eventId: string | null,
): string {
  if (isCoveredBy(['dangerous.guard'], tags[0]!))
    return 'An operator runs it in their own terminal, or names `dangerous.guard` in a rule under `policies` in `service.yaml`.';
  if (isNeverAllowed(tags)) return 'An operator can allow this value with `customshouse fingerprint add`.';
  const isOnly = decisive.every((each) => each.rule_id === rule_id);
  return `An operator can allow it with \`customshouse allow ${isOnly ? rule_id : (eventId ?? rule_id)}\`.`;
}

/** Other ways for facts that a rule names, the most exact first. */
const OTHER_WAYS: readonly (readonly [tag: Tag, instead: string])[] = [
  ['path.outside_workspace', 'use a path in the workspace'],
  ['path', 'use another path'],
  ['egress', 'use another address'],
  ['host', 'use another address'],
  ['sql', 'use a statement that only reads'],
];

function describeOtherWay(found: readonly Tag[], rule: Rule | null): string {
  const named = rule?.data_tags ?? [];
  const way = OTHER_WAYS.find(([family]) =>
    found.some((tag) => covers(family, tag) && isCoveredBy(named, tag)),
  );
  return `Instead, ${way?.[1] ?? 'continue without it'}.`;
}

function describeChange(rule: Rule | null, name: string): string {
  if (rule === null)
    return `An operator can put a rule before \`${name}\`, under \`policies\` in \`service.yaml\`.`;
  const where =
    rule.tenant_id === null
      ? 'under `policies` in `service.yaml` or in the files of `paths.policy_files`'
      : `of the tenant \`${rule.tenant_id}\``;
  return `An operator can change the ${isFlowRule(rule) ? 'flow rule' : 'rule'} \`${name}\`, ${where}.`;
}
