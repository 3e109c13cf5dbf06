import { type EvaluationContext, evaluate } from '../../core/decision/evaluate.ts';
import { allDetectors } from '../../core/detect/detectors/all.ts';
import type { ConditionEvaluator } from '../../core/policy/conditions/facts.ts';
import { covers, isCoveredBy, isFactTag, matchesAny } from '../../core/tags.ts';
import {
  ACTIONS,
  type Action,
  type Boundary,
  type Phase,
  type Policy,
  type Rule,
  type Tag,
} from '../../core/types/index.ts';
import { listLooserTerms } from './looser-terms.ts';

/** A place at which two policies answer differently. */
export interface AnswerDifference {
  /** `output, personal.pii`, or `call of send_mail, personal.pii`. */
  readonly where: string;
  readonly before: Action;
  readonly after: Action;
}

export interface StrictnessComparison {
  /** The number of compared places. All other counts are parts of it. */
  readonly compared: number;
  readonly stricter: number;
  readonly less_strict: number;
  /** Places with a tag that nothing recognized before. A first rule for the tag replaces the default action. */
  readonly opened: number;
  /** The first of the less strict places. */
  readonly examples: readonly AnswerDifference[];
  /** The tags of the opened places. */
  readonly opened_tags: readonly Tag[];
  /**
   * Changes that loosen by themselves: rules that remove tags from sessions, tools and agents that become known,
   * and terms that bind less than before.
   */
  readonly loosening: readonly string[];
  /** True if all places were compared, within the limit. */
  readonly complete: boolean;
}

const COMPARED_MAX = 300_000;
const EXAMPLES_MAX = 10;

/**
 * Compares the answers of two policies for all tags, tools, agents and tenants that either of them
 * distinguishes. Rules about the crossing itself are compared separately from rules about tags. CEL conditions
 * are not evaluated: a place counts as less strict if it is so for any possible results of the conditions.
 */
export function compareStrictness(before: Policy, after: Policy): StrictnessComparison {
  const worlds = getWorlds(before, after);
  const known = listKnownTags(before);
  const examples = new Map<string, AnswerDifference>();
  const openedTags = new Set<Tag>();
  const counts = { compared: 0, stricter: 0, less_strict: 0, opened: 0, complete: true };
  for (const part of [keepCrossingRules, keepTagRules]) {
    const [wasPart, isPart] = [part(before), part(after)];
    const touched = listTouchedTags(wasPart, isPart);
    const tags =
      part === keepTagRules
        ? listDistinctTags([wasPart, isPart])
            .filter((tag) => touched === 'all' || isCoveredBy(touched, tag))
            .map((tag) => [tag])
        : [[]];
    for (const place of getPlaces([wasPart, isPart], tags)) {
      if (counts.compared >= COMPARED_MAX) {
        counts.complete = false;
        break;
      }
      const [tag = null] = place.context.data_tags;
      for (const conditions of worlds) {
        counts.compared += 1;
        const was = getAnswer(wasPart, place.context, conditions);
        const is = getAnswer(isPart, place.context, conditions);
        const difference = ACTIONS.indexOf(is) - ACTIONS.indexOf(was);
        if (difference > 0) counts.stricter += 1;
        if (difference >= 0) continue;
        if (tag !== null && !known.some((each) => covers(each, tag) || covers(tag, each))) {
          counts.opened += 1;
          openedTags.add(tag);
          continue;
        }
        counts.less_strict += 1;
        if (examples.size < EXAMPLES_MAX)
          examples.set(place.where, { where: place.where, before: was, after: is });
      }
    }
  }
  return {
    ...counts,
    examples: [...examples.values()],
    opened_tags: [...openedTags].sort(),
    loosening: getLoosening(before, after),
  };
}

function keepCrossingRules(policy: Policy): Policy {
  return {
    ...policy,
    default_action: 'allow',
    rules: policy.rules.filter(({ data_tags }) => data_tags.length === 0),
  };
}

function keepTagRules(policy: Policy): Policy {
  return { ...policy, rules: policy.rules.filter(({ data_tags }) => data_tags.length > 0) };
}

const leniencies = new WeakMap<Policy, Policy>();

/** Built-in rules and the default action do not apply to facts. */
function getAnswer(policy: Policy, context: EvaluationContext, conditions: ConditionEvaluator): Action {
  if (!context.data_tags.some(isFactTag)) return evaluate(policy, context, conditions);
  let lenient = leniencies.get(policy);
  if (lenient === undefined) {
    lenient = { ...policy, default_action: 'allow' };
    leniencies.set(policy, lenient);
  }
  return evaluate(lenient, context, conditions);
}

/** Returns every tag that a policy detects, declares or names. Any other tag can only come from a caller. */
function listKnownTags(policy: Policy): readonly Tag[] {
  const { rules, builtin_rules, taint_rules, contracts, identities, memory_schemas, detection } = policy;
  return [
    ...[...rules, ...builtin_rules, ...taint_rules].flatMap(({ data_tags }) => data_tags),
    ...detection.patterns.flatMap(({ tags }) => tags),
    ...contracts.flatMap(({ accepts, emits }) => [...(accepts.tags ?? []), ...(emits.tags ?? [])]),
    ...identities.flatMap(({ clearance_tags }) => clearance_tags ?? []),
    ...memory_schemas.flatMap(({ fields }) => fields.map(({ tag }) => tag)),
    ...allDetectors.flatMap(({ tags }) => tags),
  ];
}

interface Place {
  readonly where: string;
  readonly context: EvaluationContext;
}

const BOUNDARY_PLACES: readonly { boundary: Boundary; phase: Phase | null; word: string }[] = [
  { boundary: 'input', phase: null, word: 'input' },
  { boundary: 'output', phase: null, word: 'output' },
  { boundary: 'action', phase: 'request', word: 'call' },
  { boundary: 'action', phase: 'response', word: 'result' },
  { boundary: 'action', phase: 'message', word: 'message' },
];

function* getPlaces(policies: readonly Policy[], tags: readonly (readonly Tag[])[]): Generator<Place> {
  const rules = policies.flatMap((policy) => policy.rules);
  const tools = [null, ...pickSamples(rules.flatMap((rule) => rule.tools))];
  const agents = [null, ...pickSamples(rules.flatMap((rule) => rule.agents))];
  const tenants = new Set(['default', ...rules.flatMap(({ tenant_id }) => tenant_id ?? [])]);
  const read = [...new Set(rules.flatMap(({ session_tags }) => session_tags))];
  const detectors = [undefined, ...pickSamples(rules.flatMap(({ rule_ids = [] }) => rule_ids))];
  const sessions = read.length === 0 ? [[]] : [[], read];
  for (const tenantId of tenants)
    for (const agentId of agents)
      for (const { word, boundary, phase } of BOUNDARY_PLACES)
        for (const tool of boundary === 'action' ? tools : [null])
          for (const dataTags of tags)
            for (const sessionTags of sessions)
              for (const ruleId of dataTags.length === 0 ? [undefined] : detectors) {
                const named = {
                  boundary,
                  phase,
                  tenant_id: tenantId,
                  agent_id: agentId,
                  tool,
                  data_tags: dataTags,
                  session_tags: sessionTags,
                };
                const context = ruleId === undefined ? named : { ...named, rule_id: ruleId };
                yield { where: getWords(word, context), context };
              }
}

function getWords(
  word: string,
  { tool, agent_id, data_tags, tenant_id, rule_id }: EvaluationContext,
): string {
  const parts = [
    ...data_tags,
    ...(rule_id === undefined ? [] : [`detector ${rule_id}`]),
    ...(agent_id ? [`agent ${agent_id}`] : []),
    ...(tenant_id === 'default' ? [] : [`tenant ${tenant_id}`]),
  ];
  return [tool ? `${word} of ${tool}` : word, ...parts].join(', ');
}

/**
 * Returns the tags of rules that are in only one of two policies. For all other tags, both policies answer the
 * same, unless they have different default actions.
 */
function listTouchedTags(a: Policy, b: Policy): readonly Tag[] | 'all' {
  if (a.default_action !== b.default_action) return 'all';
  const [allOfA, allOfB] = [a, b].map(({ rules, builtin_rules }) => [...rules, ...builtin_rules]);
  const [inA, inB] = [allOfA, allOfB].map((rules) => new Set(rules!.map((rule) => JSON.stringify(rule))));
  const differing = [...allOfA!, ...allOfB!].filter((rule) => {
    const written = JSON.stringify(rule);
    return !(inA?.has(written) && inB?.has(written));
  });
  return differing.flatMap(({ data_tags }) => data_tags);
}

/** Returns one tag of each class that the rules distinguish. */
function listDistinctTags(policies: readonly Policy[]): readonly Tag[] {
  const named = [
    ...new Set(
      policies.flatMap((policy) =>
        [...policy.rules, ...policy.builtin_rules].flatMap(({ data_tags }) => data_tags),
      ),
    ),
  ];
  const own = policies.flatMap(({ detection }) => detection.patterns.flatMap(({ tags }) => tags));
  const all = [...named, ...allDetectors.flatMap(({ tags }) => tags), ...own, 'no-rule-names-this'];
  const sorts = new Map<string, Tag>();
  for (const tag of all) {
    const sort = named.filter((ancestor) => covers(ancestor, tag)).join(' ');
    if (!sorts.has(sort)) sorts.set(sort, tag);
  }
  return [...sorts.values()];
}

/** Returns a name for each set of patterns that match together. */
function pickSamples(patterns: readonly string[]): readonly string[] {
  const distinct = [...new Set(patterns)];
  const sorts = new Map<string, string>();
  for (const name of distinct.map((pattern) => pattern.replaceAll('*', 'x'))) {
    const sort = distinct.filter((pattern) => matchesAny([pattern], name)).join(' ');
    if (!sorts.has(sort)) sorts.set(sort, name);
  }
  return [...sorts.values()];
}

/**
 * Returns the relevant combinations of condition results: in the new policy, the conditions up to some action
 * hold; in the old one, those from some action on.
 */
function getWorlds(before: Policy, after: Policy): readonly ConditionEvaluator[] {
  const oldOnes = indexConditions(before);
  const newOnes = new Map([...indexConditions(after)].filter(([when]) => !oldOnes.has(when)));
  const lowest = (actions: readonly number[]) => Math.min(...actions);
  const highest = (actions: readonly number[]) => Math.max(...actions);
  const newLevels = [-1, ...new Set([...newOnes.values()].map(lowest))];
  const oldLevels = [ACTIONS.length, ...new Set([...oldOnes.values()].map(highest))];
  return newLevels.flatMap((upTo) =>
    oldLevels.map((from) => ({
      evaluate: (when: string) => {
        const known = oldOnes.get(when);
        if (known !== undefined) return highest(known) >= from;
        return lowest(newOnes.get(when) ?? [ACTIONS.length]) <= upTo;
      },
    })),
  );
}

/** Returns each condition with the actions of its rules. */
function indexConditions({ rules }: Policy): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, readonly number[]>();
  for (const { when, action } of rules) {
    if (when !== null) found.set(when, [...(found.get(when) ?? []), ACTIONS.indexOf(action)]);
  }
  return found;
}

/** Returns whether a rule restricts tools without a contract. */
function isOnUndeclared({ when, action }: Rule): boolean {
  return when !== null && action !== 'allow' && /\bundeclared\b/.test(when);
}

function getLoosening(before: Policy, after: Policy): string[] {
  const knownRules = new Set(before.taint_rules.map((mark) => JSON.stringify(mark)));
  const forgetting = after.taint_rules.filter(
    (mark) =>
      (mark.change.remove === 'all' || mark.change.remove.length > 0) &&
      !knownRules.has(JSON.stringify(mark)),
  );
  const tools = new Set(before.contracts.map(({ tool_name }) => tool_name));
  const declared = after.contracts.filter(({ tool_name }) => !tools.has(tool_name));
  const agents = new Set(before.identities.map(({ agent_id }) => agent_id));
  const known = after.identities.filter(({ agent_id }) => !agents.has(agent_id));
  return [
    ...forgetting.map(({ name }) => `\`${name}\` takes tags off sessions`),
    ...(before.undeclared_tools === 'block' || before.rules.some(isOnUndeclared)
      ? declared.map(
          ({ tool_name }) => `the tool \`${tool_name}\` becomes declared; undeclared ones are restricted`,
        )
      : []),
    ...(before.unknown_agents === 'block'
      ? known.map(({ agent_id }) => `the agent \`${agent_id}\` becomes known; unknown ones are blocked`)
      : []),
    ...(before.unknown_agents === 'block' && after.unknown_agents === 'allow'
      ? ['unknown agents are no longer blocked']
      : []),
    ...(ACTIONS.indexOf(after.default_action) < ACTIONS.indexOf(before.default_action)
      ? [`tags that no rule names: ${before.default_action} -> ${after.default_action}`]
      : []),
    ...(before.undeclared_tools === 'block' && after.undeclared_tools === 'allow'
      ? ['tools without a contract are no longer blocked']
      : []),
    ...listLooserTerms(before, after),
  ];
}
