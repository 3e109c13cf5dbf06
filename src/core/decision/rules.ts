import { type ConditionFacts, type Conditions, factsOf } from '../policy/conditions/facts.ts';
import { coveredBy, covers, isFact, matchesAny, matchesAnyCase } from '../tags.ts';
import {
  ACTIONS,
  type Action,
  type Boundary,
  type Crossing,
  type Envelope,
  type Monitored,
  type Phase,
  type Policy,
  type Rule,
  SEVERITIES,
  type SessionMark,
  type Severity,
  type Tag,
} from '../types/index.ts';

/** Where rules are asked: a boundary, and at `action` the phase. */
export type Place = 'input' | 'output' | Phase;

/** What a crossing brings to a rule's conditions, beside its tags. */
export interface Circumstances {
  readonly tool: string | null;
  /** Everyone that the crossing says is acting; never empty. */
  readonly agents: readonly string[];
  /** Names of rules whose `require_approval` is granted. */
  readonly approved_rules?: readonly string[] | undefined;
  /** Whether rules in monitor mode speak as those in force do: what they would come to. */
  readonly heeds_monitored?: boolean;
  /** What the session has read. */
  readonly session_tags: readonly Tag[];
  /**
   * Whether a condition in CEL holds for the tag that is asked about, `null` for the crossing itself. Throws where
   * nobody can tell.
   */
  readonly holds: (when: string, tagged: Tagged | null) => boolean;
  /** Rules about the session that spoke are added here. */
  readonly flow_spoke: Rule[];
}

/**
 * The rules of one place for one tenant. A stream is a list in which the first that matches speaks; where
 * there are several streams each may speak, and the strictest stands.
 */
export interface RuleTable {
  readonly about_crossing: readonly (readonly Rule[])[];
  readonly about_tags: readonly (readonly Rule[])[];
  readonly builtin: readonly Rule[];
  /**
   * Rules about tags that restrict what a session may do after what it has read. Each speaks for itself and hides
   * no other, so that a session that has read more is never let through where one that has read less is not.
   */
  readonly flow: readonly (readonly Rule[])[];
  /** What speaks for tags that no rule names. */
  readonly default_action: Action;
  readonly marks: readonly SessionMark[];
}

/** A tag and what is known about its finding; the severity is `null` where the tag was only declared. */
export interface Tagged {
  readonly tag: Tag;
  readonly severity: Severity | null;
}

/** Where a crossing is judged. An action without a phase is a request. */
export function placeOf(boundary: Boundary, phase: Phase | null | undefined): Place {
  return boundary === 'action' ? (phase ?? 'request') : boundary;
}

/** What conditions in CEL may ask about, beside the crossing's own fields. */
export interface Known {
  /** Found and declared; asked for where a condition is. */
  readonly data_tags: () => readonly Tag[];
  /** How many findings there are. */
  readonly findings: number;
  /** `null`: no condition has an answer. */
  readonly conditions: Conditions | null;
}

/** What a crossing brings to the conditions of rules. */
export function circumstancesOf(crossing: Envelope, known: Known): Circumstances {
  const { tool, approved_rules, session_tags = [] } = crossing;
  const holds = (when: string, tagged: Tagged | null): boolean => {
    if (known.conditions === null) throw new Error('There is nothing here that evaluates conditions.');
    const facts: ConditionFacts = factsOf(crossing, known.data_tags(), known.findings, tagged);
    return known.conditions.holds(when, facts);
  };
  return { tool, agents: actorsOf(crossing), approved_rules, session_tags, holds, flow_spoke: [] };
}

/** Everyone that acts in a crossing: the agent, and the source where it is named and another. */
export function actorsOf(crossing: Pick<Crossing, 'agent_id' | 'source_agent_id'>): readonly string[] {
  const { agent_id, source_agent_id } = crossing;
  return source_agent_id === null || source_agent_id === agent_id ? [agent_id] : [source_agent_id, agent_id];
}

/** The stricter of two actions. */
export function stricter(a: Action, b: Action): boolean {
  return ACTIONS.indexOf(a) > ACTIONS.indexOf(b);
}

/** The strictest of those that speak, the first of equals; `null` where there is none. */
export function strictest<T extends { readonly action: Action }>(speakers: readonly T[]): T | null {
  let strictest: T | null = null;
  for (const each of speakers) {
    if (strictest === null || stricter(each.action, strictest.action)) strictest = each;
  }
  return strictest;
}

/** What of a rule's conditions did not hold. */
export type Mismatch = 'tag' | 'severity' | 'tool' | 'agent' | 'session_tags' | 'when';

/** Told of each rule that is asked, in order: what did not hold of it, or `null` where it matches. */
export type Tried = (rule: Rule, mismatch: Mismatch | null, tagged: Tagged | null) => void;

/** The rule that decides on a tag: one's own, else a built-in one, else `null`: the default is for the caller. */
export function ruleForTag(
  table: RuleTable,
  tagged: Tagged,
  circumstances: Circumstances,
  monitored: Monitored[],
  tried?: Tried,
): Rule | null {
  const own = strictest(speakers(table.about_tags, tagged, circumstances, monitored, tried));
  const usual = own ?? builtinFor(table, tagged, circumstances, tried);
  if (table.flow.length === 0) return usual;
  const flow = strictest(speakers(table.flow, tagged, circumstances, monitored, tried));
  const action = usual?.action ?? (isFact(tagged.tag) ? 'allow' : table.default_action);
  return flow !== null && stricter(flow.action, action) ? flow : usual;
}

function builtinFor(
  table: RuleTable,
  tagged: Tagged,
  circumstances: Circumstances,
  tried: Tried | undefined,
): Rule | null {
  const builtin = table.builtin.find((rule) => fitOf(rule, tagged, circumstances, tried) === 'yes');
  return builtin === undefined ? null : granted(builtin, builtin.name, circumstances.approved_rules);
}

/** The rule that decides on the crossing itself, whatever its tags; `null` where none speaks. */
export function ruleForCrossing(
  table: RuleTable,
  circumstances: Circumstances,
  monitored: Monitored[],
  tried?: Tried,
): Rule | null {
  if (table.about_crossing.length === 0) return null;
  return strictest(speakers(table.about_crossing, null, circumstances, monitored, tried));
}

/** Gives the rule that decides on a tag, or `null`. */
export type RuleFor = (tagged: Tagged) => Rule | null;

/** A text can hold thousands of findings, but they have few tags: the rules are asked once about each. */
export function oncePerTag(ruleFor: RuleFor): RuleFor {
  const known = new Map<string, Rule | null>();
  return (tagged) => {
    const key = `${tagged.severity} ${tagged.tag}`;
    let rule = known.get(key);
    if (rule === undefined) {
      rule = ruleFor(tagged);
      known.set(key, rule);
    }
    return rule;
  };
}

/** The first of each stream that matches. One in monitor mode is noted, and the next is asked. */
function speakers(
  streams: readonly (readonly Rule[])[],
  tagged: Tagged | null,
  circumstances: Circumstances,
  monitored: Monitored[],
  tried: Tried | undefined,
): Rule[] {
  const found: Rule[] = [];
  for (const stream of streams) {
    for (const rule of stream) {
      const fit = fitOf(rule, tagged, circumstances, tried);
      if (fit === 'no') continue;
      if (rule.enforcement === 'enforce' || circumstances.heeds_monitored) {
        if (isFlow(rule) && !circumstances.flow_spoke.includes(rule)) circumstances.flow_spoke.push(rule);
        const spoken = fit === 'yes' ? rule : { ...rule, reason: unknownReason(rule) };
        found.push(granted(spoken, rule.name, circumstances.approved_rules));
        // A rule of which nobody can tell whether it fits hides none behind it.
        if (fit === 'yes') break;
        continue;
      }
      note(monitored, { rule: rule.name, action: rule.action, tag: tagged?.tag ?? null });
    }
  }
  return found;
}

/** What asks for approval under a name that was granted takes note and no more; all else stays as it is. */
export function granted<Speaker extends { readonly action: Action; readonly reason: string }>(
  speaker: Speaker,
  name: string,
  approved_rules: readonly string[] = [],
): Speaker {
  if (speaker.action !== 'require_approval' || !approved_rules.includes(name)) return speaker;
  return { ...speaker, action: 'flag', reason: 'The action was approved, as the rule requires.' };
}

/** Adds to the list what is not in it yet. */
export function note(monitored: Monitored[], noted: Monitored): void {
  const same = (each: Monitored) =>
    each.rule === noted.rule && each.action === noted.action && each.tag === noted.tag;
  if (!monitored.some(same)) monitored.push(noted);
}

/** Whether a rule fits; `unknown` where its condition has no answer and it would restrict. */
type Fit = 'yes' | 'no' | 'unknown';

function fitOf(
  rule: Rule,
  tagged: Tagged | null,
  circumstances: Circumstances,
  tried: Tried | undefined,
): Fit {
  const cheap =
    (tagged === null ? null : tagMismatch(rule, tagged)) ?? circumstanceMismatch(rule, circumstances);
  const met = cheap === null ? conditionOf(rule, tagged, circumstances) : 'no';
  tried?.(rule, cheap ?? (met === 'no' ? 'when' : null), tagged);
  return met;
}

function conditionOf({ when, action }: Rule, tagged: Tagged | null, { holds }: Circumstances): Fit {
  if (when === null) return 'yes';
  try {
    return holds(when, tagged) ? 'yes' : 'no';
  } catch {
    // What is not known to hold never lets anything through, and never keeps a rule from restricting.
    return action === 'allow' ? 'no' : 'unknown';
  }
}

function unknownReason({ name }: Rule): string {
  return `The condition of the rule \`${name}\` could not be evaluated, so it counts as met.`;
}

/** Whether each of the tags, or a descendant of it, is among those that a session has read. */
function hasRead(asked: readonly Tag[], session_tags: readonly Tag[]): boolean {
  return asked.every((ancestor) => session_tags.some((tag) => covers(ancestor, tag)));
}

/** Whether a rule restricts what may follow in a session. One that allows stands in the order of the others. */
export function isFlow({ session_tags, action }: Rule): boolean {
  return session_tags.length > 0 && action !== 'allow';
}

function tagMismatch(rule: Rule, { tag, severity }: Tagged): Mismatch | null {
  if (!coveredBy(rule.data_tags, tag)) return 'tag';
  // Without a finding the severity is not known, so the worst is assumed.
  if (rule.severity_min === null || severity === null) return null;
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(rule.severity_min) ? null : 'severity';
}

/**
 * A rule that restricts holds when any of the acting agents is one of its own; a rule that allows only when
 * all of them are, so that naming a second agent never loosens anything. A rule that restricts holds for every
 * spelling of its tools in upper and lower case; a rule that allows only for the one it writes.
 */
export function circumstanceMismatch(
  { tools, agents, action, session_tags }: Pick<Rule, 'tools' | 'agents' | 'action' | 'session_tags'>,
  circumstances: Circumstances,
): Mismatch | null {
  const { tool } = circumstances;
  const fits = action === 'allow' ? matchesAny : matchesAnyCase;
  if (tools.length > 0 && (tool === null || !fits(tools, tool))) return 'tool';
  const isOne = (agent: string) => agents.length === 0 || matchesAny(agents, agent);
  const holds = action === 'allow' ? circumstances.agents.every(isOne) : circumstances.agents.some(isOne);
  if (!holds) return 'agent';
  return hasRead(session_tags, circumstances.session_tags) ? null : 'session_tags';
}

const tables = new WeakMap<Policy, Map<string | null, Record<Place, RuleTable>>>();

/**
 * The rules of a place for a tenant, in the order in which they are asked. Derived once per policy and tenant
 * that has rules of its own; every other tenant shares the global table.
 */
export function tableOf(policy: Policy, place: Place, tenant_id: string): RuleTable {
  let perTenant = tables.get(policy);
  if (perTenant === undefined) {
    perTenant = derive(policy);
    tables.set(policy, perTenant);
  }
  const own = perTenant.get(tenant_id) ?? perTenant.get(null);
  return (own as Record<Place, RuleTable>)[place];
}

function derive(policy: Policy): Map<string | null, Record<Place, RuleTable>> {
  const scoped = [...policy.rules, ...policy.session_marks];
  const tenants = new Set<string | null>([null, ...scoped.map(({ tenant_id }) => tenant_id)]);
  const derived = new Map<string | null, Record<Place, RuleTable>>();
  for (const tenant of tenants) derived.set(tenant, tablesFor(policy, tenant));
  return derived;
}

/** Which rules one list holds: those of a boundary, and of a phase of it. */
export interface Sight {
  readonly boundary: Boundary;
  readonly phase: Phase | null;
}

/** The lists of one's own rules that are asked at a place, each by itself; the first is that of the place. */
export const STREAMS: Readonly<Record<Place, readonly [Sight, ...Sight[]]>> = {
  input: [{ boundary: 'input', phase: null }],
  output: [{ boundary: 'output', phase: null }],
  request: [
    { boundary: 'action', phase: 'request' },
    { boundary: 'input', phase: null },
  ],
  message: [
    { boundary: 'action', phase: 'message' },
    { boundary: 'input', phase: null },
  ],
  response: [
    { boundary: 'action', phase: 'response' },
    { boundary: 'output', phase: null },
  ],
};

/** Why a rule does not stand in such a list; `null` where it does. */
export function unseen(
  rule: Pick<Rule, 'boundaries' | 'phases'>,
  { boundary, phase }: Sight,
): 'boundary' | 'phase' | null {
  if (!rule.boundaries.includes(boundary)) return 'boundary';
  return phase === null || rule.phases.includes(phase) ? null : 'phase';
}

function tablesFor(policy: Policy, tenant: string | null): Record<Place, RuleTable> {
  const { builtin_rules: builtin, default_action } = policy;
  const rules = forTenant(policy.rules, tenant);
  const marks = forTenant(policy.session_marks, tenant);
  const seen = <T extends Pick<Rule, 'boundaries' | 'phases'>>(all: readonly T[], sight: Sight) =>
    all.filter((each) => unseen(each, sight) === null);
  const at = (place: Place) => {
    const [here] = STREAMS[place];
    const streams = STREAMS[place].map((sight) => seen(rules, sight));
    return table(streams, { builtin: seen(builtin, here), marks: seen(marks, here), default_action });
  };
  return {
    input: at('input'),
    output: at('output'),
    request: at('request'),
    message: at('message'),
    response: at('response'),
  };
}

/** A tenant's own before those of all. */
function forTenant<T extends { readonly tenant_id: string | null }>(
  list: readonly T[],
  tenant: string | null,
): readonly T[] {
  const own = tenant === null ? [] : list.filter(({ tenant_id }) => tenant_id === tenant);
  return [...own, ...list.filter(({ tenant_id }) => tenant_id === null)];
}

function table(
  streams: readonly (readonly Rule[])[],
  others: Pick<RuleTable, 'builtin' | 'marks' | 'default_action'>,
): RuleTable {
  const alone = [...new Set(streams.flat())].filter(isFlow).map((rule) => [rule]);
  const ordered = streams.map((stream) => stream.filter((rule) => !isFlow(rule)));
  const filtered = (lists: readonly (readonly Rule[])[], keep: (rule: Rule) => boolean) =>
    lists.map((stream) => stream.filter(keep)).filter((stream) => stream.length > 0);
  return {
    about_crossing: filtered([...ordered, ...alone], (rule) => rule.data_tags.length === 0),
    about_tags: filtered(ordered, (rule) => rule.data_tags.length > 0),
    flow: filtered(alone, (rule) => rule.data_tags.length > 0),
    ...others,
  };
}
