import { isFlowRule } from '../../decision/rules.ts';
import { covers, matchesAny, matchesAnyCase } from '../../tags.ts';
import { type Policy, type Rule, SEVERITIES, type Tag } from '../../types/index.ts';
import { formatNameList } from '../rule-trace.ts';
import type { LintRemark } from './remark.ts';

/**
 * Returns remarks on rules that never match, or match less than they name: in all of their lists, earlier rules match
 * everything that they match. The remarks are exact, because earlier rules with a condition in CEL, for particular
 * detectors or in monitor mode never count. Some unreachable rules may not be found.
 */
export function findReachRemarks({ rules }: Policy): readonly LintRemark[] {
  const askable = rules.filter((rule) => !isFlowRule(rule));
  const byTag = indexRules(askable);
  return askable.flatMap((rule, at) => buildReachRemarks(rule, findEarlierRules(rule, at, askable, byTag)));
}

/** Smallest unit of reachability: one list, one tag or the crossing, one tool pattern or any tool. */
interface Atom {
  readonly list: string;
  readonly tag: Tag | null;
  readonly tool: string | null;
}

function getAtoms(rule: Rule): Atom[] {
  const tags = rule.data_tags.length === 0 ? [null] : rule.data_tags;
  const tools = rule.tools.length === 0 ? [null] : rule.tools;
  return getLists(rule).flatMap((list) => tags.flatMap((tag) => tools.map((tool) => ({ list, tag, tool }))));
}

/** Returns the lists that contain a rule. A call is evaluated against two lists, each on its own. */
function getLists({ boundaries, phases }: Rule): string[] {
  return boundaries.flatMap((boundary) =>
    boundary === 'action' ? phases.map((phase) => `action ${phase}`) : [boundary as string],
  );
}

interface RulePosition {
  readonly rule: Rule;
  readonly at: number;
}

/** Indexes rules by each tag that they name. Rules about the crossing have the empty key. */
function indexRules(rules: readonly Rule[]): ReadonlyMap<Tag, readonly RulePosition[]> {
  const index = new Map<Tag, RulePosition[]>();
  for (const [at, rule] of rules.entries()) {
    for (const tag of rule.data_tags.length === 0 ? [''] : rule.data_tags) {
      const list = index.get(tag) ?? [];
      list.push({ rule, at });
      index.set(tag, list);
    }
  }
  return index;
}

/** Returns, for each atom of a rule, the first earlier rule that always shadows it, or `null`. */
function findEarlierRules(
  rule: Rule,
  at: number,
  rules: readonly Rule[],
  byTag: ReadonlyMap<Tag, readonly RulePosition[]>,
): readonly { readonly atom: Atom; readonly by: Rule | null }[] {
  return getAtoms(rule).map((atom) => {
    const candidates = getAncestors(atom.tag).flatMap((tag) => byTag.get(tag) ?? []);
    const found = candidates
      .filter((each) => each.at < at && shadowsAtom(each.rule, rule, atom))
      .reduce<RulePosition | null>(
        (first, each) => (first === null || each.at < first.at ? each : first),
        null,
      );
    return { atom, by: found === null ? null : (rules[found.at] as Rule) };
  });
}

/** Returns the tags that cover a tag: `a.b.c`, `a.b`, `a`. */
function getAncestors(tag: Tag | null): readonly Tag[] {
  if (tag === null) return [''];
  const parts = tag.split('.');
  return parts.map((_, at) => parts.slice(0, at + 1).join('.'));
}

/** Returns whether an earlier rule matches whenever a later one matches, for one atom. */
function shadowsAtom(earlier: Rule, later: Rule, { list, tag, tool }: Atom): boolean {
  return (
    earlier.enforcement === 'enforce' &&
    earlier.when === null &&
    earlier.rule_ids === undefined &&
    isAsSevere(earlier, later) &&
    earlier.tenant_id === later.tenant_id &&
    getLists(earlier).includes(list) &&
    (tag === null ? earlier.data_tags.length === 0 : earlier.data_tags.some((each) => covers(each, tag))) &&
    (earlier.tools.length === 0 || (tool !== null && coversTool(earlier, tool))) &&
    coversAgents(earlier, later) &&
    earlier.session_tags.every((each) => later.session_tags.some((read) => covers(each, read)))
  );
}

/** Returns whether the earlier rule matches every severity that the later one matches. */
function isAsSevere({ severity_min: earlier }: Rule, { severity_min: later }: Rule): boolean {
  if (earlier === null) return true;
  return later !== null && SEVERITIES.indexOf(earlier) <= SEVERITIES.indexOf(later);
}

/**
 * Returns whether another pattern covers all names of this pattern. In the pattern, `*` counts as a character that
 * only `*` matches.
 */
function isWithin(pattern: string, others: readonly string[]): boolean {
  return matchesAny(others, pattern);
}

/**
 * Returns whether a rule covers all tools of one pattern. For a rule that allows, names that differ only in case are
 * ignored, because no author writes the later rule for those.
 */
function coversTool({ action, tools }: Rule, pattern: string): boolean {
  return action === 'allow' ? isWithin(pattern, tools) : matchesAnyCase(tools, pattern);
}

/** A rule that allows requires all acting agents to be its own; any other rule requires one of them. */
function coversAgents(earlier: Rule, later: Rule): boolean {
  if (earlier.agents.length === 0) return true;
  if (later.agents.length === 0 || !later.agents.every((each) => isWithin(each, earlier.agents)))
    return false;
  return earlier.action !== 'allow' || later.action === 'allow';
}

function buildReachRemarks(
  rule: Rule,
  reached: readonly { readonly atom: Atom; readonly by: Rule | null }[],
): readonly LintRemark[] {
  const taken = reached.filter(({ by }) => by !== null) as { atom: Atom; by: Rule }[];
  if (taken.length === 0) return [];
  const others = [...new Set(taken.map(({ by }) => by))];
  const instead = formatNameList(others.map(({ name }) => name));
  if (taken.length < reached.length) return buildPartialRemarks(rule, taken, reached);
  if (others.every(({ action }) => action === rule.action)) {
    const message = `The rule \`${rule.name}\` never applies: ${instead} before it matches everything that it matches, with the same action. Remove it, or move it to the front if you need its reason or severity.`;
    return [{ id: 'rule-redundant', record: rule, part: '', message, preceding_rules: others }];
  }
  const [twin] = others;
  if (others.length === 1 && isSame(twin as Rule, rule)) {
    const message = `The rule \`${rule.name}\` has the action \`${rule.action}\` and matches exactly what \`${twin!.name}\` before it matches with \`${twin!.action}\`, so it never applies. Keep one of them.`;
    return [{ id: 'rule-contradicted', record: rule, part: 'action', message, preceding_rules: others }];
  }
  const message = `The rule \`${rule.name}\` never applies: ${instead} before it matches everything that it matches, with \`${twin!.action}\`. Move it to the front, narrow the rules before it, or remove it.`;
  return [{ id: 'rule-dead', record: rule, part: '', message, preceding_rules: others }];
}

/** Returns whether two rules have the same conditions: each always shadows the other. */
function isSame(a: Rule, b: Rule): boolean {
  return getAtoms(a).every((atom) => shadowsAtom({ ...b, enforcement: 'enforce' }, a, atom));
}

/**
 * Returns remarks on a partly shadowed rule only if a whole tag, tool or list is shadowed. Smaller overlaps are the
 * usual way to write exceptions.
 */
function buildPartialRemarks(
  rule: Rule,
  taken: readonly { readonly atom: Atom; readonly by: Rule }[],
  reached: readonly { readonly atom: Atom }[],
): readonly LintRemark[] {
  const other = taken.filter(({ by }) => by.action !== rule.action);
  for (const kind of ['tag', 'tool', 'list'] as const) {
    const whole = [...new Set(other.map(({ atom }) => atom[kind]))].filter(
      (value) =>
        value !== null &&
        reached.every(({ atom }) => atom[kind] !== value || other.some((each) => each.atom === atom)),
    ) as string[];
    if (whole.length === 0) continue;
    const by = formatNameList([...new Set(other.map((each) => each.by.name))]);
    const what = { tag: 'for', tool: 'for the tool', list: 'at' }[kind];
    const message = `The rule \`${rule.name}\` never applies ${what} ${formatNameList(whole)}: ${by} before it matches with another action.`;
    return [
      {
        id: 'rule-partly-dead',
        record: rule,
        part: '',
        message,
        preceding_rules: other.map((each) => each.by),
      },
    ];
  }
  return [];
}
