import { isFlowRule } from '../../decision/rules.ts';
import { covers, matchesAny, matchesAnyCase } from '../../tags.ts';
import { type Policy, type Rule, SEVERITIES, type Tag } from '../../types/index.ts';
import { formatNameList } from '../rule-trace.ts';
import type { LintRemark } from './remark.ts';

/**
 * Rules that never speak, or speak of less than they name: in every list in which they stand, those before them
 * match all that they match. It is exact where it says so, for a rule before them with a condition in CEL or in
 * monitor mode never counts; some rules that never speak may not be seen.
 */
export function findReachRemarks({ rules }: Policy): readonly LintRemark[] {
  const askable = rules.filter((rule) => !isFlowRule(rule));
  const byTag = indexOf(askable);
  return askable.flatMap((rule, at) => remarkOn(rule, before(rule, at, askable, byTag)));
}

/** What is asked about by itself: one list, one tag or the crossing, one pattern of tools or any. */
interface Atom {
  readonly list: string;
  readonly tag: Tag | null;
  readonly tool: string | null;
}

function atomsOf(rule: Rule): Atom[] {
  const tags = rule.data_tags.length === 0 ? [null] : rule.data_tags;
  const tools = rule.tools.length === 0 ? [null] : rule.tools;
  return listsOf(rule).flatMap((list) => tags.flatMap((tag) => tools.map((tool) => ({ list, tag, tool }))));
}

/** The lists in which a rule stands; a call is asked about in two of them, each by itself. */
function listsOf({ boundaries, phases }: Rule): string[] {
  return boundaries.flatMap((boundary) =>
    boundary === 'action' ? phases.map((phase) => `action ${phase}`) : [boundary as string],
  );
}

interface Placed {
  readonly rule: Rule;
  readonly at: number;
}

/** Rules by each tag that they name; under the empty name those about the crossing. */
function indexOf(rules: readonly Rule[]): ReadonlyMap<Tag, readonly Placed[]> {
  const index = new Map<Tag, Placed[]>();
  for (const [at, rule] of rules.entries()) {
    for (const tag of rule.data_tags.length === 0 ? [''] : rule.data_tags) {
      const list = index.get(tag) ?? [];
      list.push({ rule, at });
      index.set(tag, list);
    }
  }
  return index;
}

/** For each atom of a rule the first rule before it that always speaks instead, or `null`. */
function before(
  rule: Rule,
  at: number,
  rules: readonly Rule[],
  byTag: ReadonlyMap<Tag, readonly Placed[]>,
): readonly { readonly atom: Atom; readonly by: Rule | null }[] {
  return atomsOf(rule).map((atom) => {
    const candidates = ancestorsOf(atom.tag).flatMap((tag) => byTag.get(tag) ?? []);
    const found = candidates
      .filter((each) => each.at < at && speaksFor(each.rule, rule, atom))
      .reduce<Placed | null>((first, each) => (first === null || each.at < first.at ? each : first), null);
    return { atom, by: found === null ? null : (rules[found.at] as Rule) };
  });
}

/** `a.b.c`, `a.b`, `a`: only a rule that names one of these covers the tag. */
function ancestorsOf(tag: Tag | null): readonly Tag[] {
  if (tag === null) return [''];
  const parts = tag.split('.');
  return parts.map((_, at) => parts.slice(0, at + 1).join('.'));
}

/** Whether a rule before another matches whenever the other matches, as far as one atom goes. */
function speaksFor(earlier: Rule, later: Rule, { list, tag, tool }: Atom): boolean {
  return (
    earlier.enforcement === 'enforce' &&
    earlier.when === null &&
    isAsSevere(earlier, later) &&
    earlier.tenant_id === later.tenant_id &&
    listsOf(earlier).includes(list) &&
    (tag === null ? earlier.data_tags.length === 0 : earlier.data_tags.some((each) => covers(each, tag))) &&
    (earlier.tools.length === 0 || (tool !== null && coversTool(earlier, tool))) &&
    coversAgents(earlier, later) &&
    earlier.session_tags.every((each) => later.session_tags.some((read) => covers(each, read)))
  );
}

/** Whether a rule matches findings of every severity that the other matches. */
function isAsSevere({ severity_min: earlier }: Rule, { severity_min: later }: Rule): boolean {
  if (earlier === null) return true;
  return later !== null && SEVERITIES.indexOf(earlier) <= SEVERITIES.indexOf(later);
}

/** Whether all names of one pattern fit another: a `*` is a letter that only a `*` matches. */
function isWithin(pattern: string, others: readonly string[]): boolean {
  return matchesAny(others, pattern);
}

/**
 * Whether a rule is for all that one pattern of tools names. Of a rule that allows, other spellings of a name in upper and
 * lower case are left out, for nobody writes the rule after it for those.
 */
function coversTool({ action, tools }: Rule, pattern: string): boolean {
  return action === 'allow' ? isWithin(pattern, tools) : matchesAnyCase(tools, pattern);
}

/** A rule that allows wants all who act to be its own, every other rule one of them. */
function coversAgents(earlier: Rule, later: Rule): boolean {
  if (earlier.agents.length === 0) return true;
  if (later.agents.length === 0 || !later.agents.every((each) => isWithin(each, earlier.agents)))
    return false;
  return earlier.action !== 'allow' || later.action === 'allow';
}

function remarkOn(
  rule: Rule,
  reached: readonly { readonly atom: Atom; readonly by: Rule | null }[],
): readonly LintRemark[] {
  const taken = reached.filter(({ by }) => by !== null) as { atom: Atom; by: Rule }[];
  if (taken.length === 0) return [];
  const others = [...new Set(taken.map(({ by }) => by))];
  const instead = formatNameList(others.map(({ name }) => name));
  if (taken.length < reached.length) return partly(rule, taken, reached);
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

/** Whether two rules match the same: each always speaks for the other. */
function isSame(a: Rule, b: Rule): boolean {
  return atomsOf(a).every((atom) => speaksFor({ ...b, enforcement: 'enforce' }, a, atom));
}

/** A part is told where all of a tag, a tool or a list is taken: what is less than that is how exceptions are written. */
function partly(
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
