import {
  type Circumstances,
  type Mismatch,
  placeOf,
  ruleForCrossing,
  ruleForTag,
  STREAMS,
  type Tagged,
  unseen,
} from '../decision/rules.ts';
import type { Action, Policy, Rule } from '../types/index.ts';
import type { Recollection } from './recorded.ts';
import { askedWith, tableFor } from './retell.ts';

/** Rules that one question lists at most; behind them only their number is told. */
const TRIALS_MAX = 200;
/** Names that one sentence lists at most. */
const NAMES_MAX = 5;

/** How one rule fared when it was asked. */
export interface Trial {
  readonly rule: string;
  readonly action: Action;
  readonly tenant_id: string | null;
  readonly builtin: boolean;
  /** `monitored`: it matched, and has no say. `not_reached`: one before it in its list spoke. */
  readonly outcome: 'matched' | 'monitored' | 'not_matched' | 'not_reached';
  /** One sentence. */
  readonly why: string;
}

/** The rules that one question was put to, in the order in which they are asked. */
export interface Trials {
  /** The rule that decides; `null` where none speaks. */
  readonly decides: Rule | null;
  readonly trials: readonly Trial[];
  /** How many more rules there were. */
  readonly left_off: number;
}

/** Asks the rules about a tag, or about the crossing itself where it is `null`, and notes what each said. */
export function trialsOf(recalled: Recollection, policy: Policy, tagged: Tagged | null): Trials {
  const circumstances = askedWith(recalled);
  const table = tableFor(recalled, policy);
  const said = new Map<Rule, Mismatch | null>();
  const tried = (rule: Rule, mismatch: Mismatch | null) => void said.set(rule, mismatch);
  const decides =
    tagged === null
      ? ruleForCrossing(table, circumstances, [], tried)
      : ruleForTag(table, tagged, circumstances, [], tried);
  const streams =
    tagged === null ? table.about_crossing : [...table.about_tags, table.builtin, ...table.flow];
  const trials: Trial[] = [];
  let count = 0;
  for (const stream of streams) {
    const is_builtin = stream === table.builtin;
    let before = is_builtin && !stream.some((rule) => said.has(rule)) ? decides : null;
    for (const rule of stream) {
      count += 1;
      if (trials.length < TRIALS_MAX)
        trials.push(trialOf(rule, is_builtin, said, before, tagged, circumstances));
      if (said.get(rule) === null && rule.enforcement === 'enforce') before = rule;
    }
  }
  return { decides, trials, left_off: count - trials.length };
}

function trialOf(
  rule: Rule,
  builtin: boolean,
  said: ReadonlyMap<Rule, Mismatch | null>,
  before: Rule | null,
  tagged: Tagged | null,
  circumstances: Circumstances,
): Trial {
  const { name, action, tenant_id, enforcement } = rule;
  const about = { rule: name, action, tenant_id, builtin };
  const mismatch = said.get(rule);
  if (mismatch === undefined)
    return { ...about, outcome: 'not_reached', why: `\`${before?.name ?? ''}\` speaks before it.` };
  if (mismatch !== null)
    return { ...about, outcome: 'not_matched', why: whyNot(rule, mismatch, tagged, circumstances) };
  if (enforcement === 'monitor')
    return { ...about, outcome: 'monitored', why: 'It matches and is in monitor mode, so it has no say.' };
  return { ...about, outcome: 'matched', why: `It matches, and says \`${action}\`.` };
}

function whyNot(rule: Rule, mismatch: Mismatch, tagged: Tagged | null, circumstances: Circumstances): string {
  switch (mismatch) {
    case 'tag':
      return `It is for ${names(rule.data_tags)}, which does not cover \`${tagged?.tag ?? ''}\`.`;
    case 'severity':
      return `It is for findings of severity ${rule.severity_min} or worse, and this is ${tagged?.severity}.`;
    case 'tool':
      return circumstances.tool === null
        ? `It is for the tool ${names(rule.tools)}, and no tool is named.`
        : `It is for the tool ${names(rule.tools)}, and this is \`${circumstances.tool}\`.`;
    case 'agent':
      return rule.action === 'allow' && circumstances.agents.length > 1
        ? `It allows ${names(rule.agents)}, and not all who act are that: ${names(circumstances.agents)}.`
        : `It is for the agent ${names(rule.agents)}, and ${names(circumstances.agents)} acts.`;
    case 'session_tags':
      return `It is for sessions that have read ${names(rule.session_tags)}, and this one has not.`;
    case 'when':
      return 'Its condition `when` does not hold.';
  }
}

/** `` `a`, `b` and 3 more``. */
export function names(list: readonly string[]): string {
  const first = list.slice(0, NAMES_MAX).map((each) => `\`${each}\``);
  return list.length > NAMES_MAX
    ? `${first.join(', ')} and ${list.length - NAMES_MAX} more`
    : first.join(', ');
}

/** A rule that was not asked at all: it is for another place or another tenant. */
export interface NotAsked {
  readonly rule: string;
  readonly tenant_id: string | null;
  readonly because: 'boundary' | 'phase' | 'tenant';
  readonly why: string;
}

/** The rules of one's own that do not stand in any list of this place; the rest are counted. */
export function notAsked(
  { crossing }: Recollection,
  policy: Policy,
): { readonly rules: readonly NotAsked[]; readonly left_off: number } {
  const sights = STREAMS[placeOf(crossing.boundary, crossing.phase)];
  const rules: NotAsked[] = [];
  let count = 0;
  for (const rule of policy.rules) {
    const { name, tenant_id, boundaries, phases } = rule;
    const misses = sights.map((sight) => unseen(rule, sight));
    const is_foreign = tenant_id !== null && tenant_id !== crossing.tenant_id;
    if (!is_foreign && misses.includes(null)) continue;
    count += 1;
    if (rules.length >= TRIALS_MAX) continue;
    if (is_foreign) {
      const why = `It is for the tenant \`${tenant_id}\`, and this is \`${crossing.tenant_id}\`.`;
      rules.push({ rule: name, tenant_id, because: 'tenant', why });
    } else if (misses.includes('phase')) {
      const why = `It is for the phase ${names(phases)}, and this is \`${crossing.phase}\`.`;
      rules.push({ rule: name, tenant_id, because: 'phase', why });
    } else {
      const why = `It is for ${names(boundaries)}, and this is \`${crossing.boundary}\`.`;
      rules.push({ rule: name, tenant_id, because: 'boundary', why });
    }
  }
  return { rules, left_off: count - rules.length };
}
