import { outcomeOf, outcomeOfDeclared, outcomeOfDefault, SILENCE } from '../decision/outcomes.ts';
import { ruleForTag } from '../decision/rules.ts';
import type { Heard } from '../decision/voices.ts';
import { isFact } from '../tags.ts';
import type { Action, Policy, Severity, Tag } from '../types/index.ts';
import type { Recollection } from './recorded.ts';
import { askedWith, hearingOf, tableFor } from './retell.ts';
import { type Trial, trialsOf } from './trials.ts';

/** One who has a say on a decision. */
export interface Voice {
  /** What was asked about: a tag, the crossing itself, a contract or an identity, or how much was looked at. */
  readonly about: 'crossing' | 'tag' | 'contract' | 'identity' | 'coverage';
  /** `null` but for a tag. */
  readonly tag: Tag | null;
  readonly origin: 'found' | 'declared' | 'fact' | null;
  /** What the detector said; `null` but for what was found. */
  readonly severity: Severity | null;
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
  /** Whether its action is the one that decided. */
  readonly won: boolean;
  readonly trials: readonly Trial[];
  /** How many more rules were asked, or not reached. */
  readonly trials_left_off: number;
}

type Said = Omit<Voice, 'won'>;

/** Everyone who had a say, in the order in which of equals the first wins. */
export function voicesOf(recalled: Recollection, policy: Policy, heard: Heard): readonly Voice[] {
  const said = [
    ...coverageVoice(recalled),
    ...objectionVoices(recalled, heard),
    ...crossingVoice(recalled, policy),
    ...foundVoices(recalled, policy),
    ...declaredVoices(recalled, policy, heard),
    ...strippingVoice(recalled, policy),
  ];
  const { winner } = heard;
  const voices = said.map((each) => ({
    ...each,
    won: each.action === winner.action && each.rule === winner.rule,
  }));
  if (voices.length === 0 || winner === SILENCE || voices.some(({ won }) => won)) return voices;
  // It is heard behind one that asks for approval: it blocks whether that is given or not.
  const reason = `${winner.reason} No approval would change that.`;
  return [...voices, { ...SILENT, about: 'crossing', ...spoken({ ...winner, reason }), won: true }];
}

const SILENT = { tag: null, origin: null, severity: null, trials: [], trials_left_off: 0 } as const;

function coverageVoice({ coverage }: Recollection): Said[] {
  if (coverage.status === 'full') return [];
  const { reason } = coverage;
  return [{ ...SILENT, about: 'coverage', action: 'block', rule: 'coverage.exceeded', reason }];
}

function objectionVoices({ crossing }: Recollection, { objections }: Heard): Said[] {
  return objections.map(({ rule, action, reason }) => {
    const is_granted = action === 'require_approval' && crossing.approved_rules?.includes(rule);
    const about = rule.startsWith('identity.') ? ('identity' as const) : ('contract' as const);
    return { ...SILENT, about, rule, reason, action: is_granted ? ('flag' as const) : action };
  });
}

function crossingVoice(recalled: Recollection, policy: Policy): Said[] {
  const { decides, trials, left_off } = trialsOf(recalled, policy, null);
  if (trials.length === 0) return [];
  const asked = { ...SILENT, about: 'crossing', trials, trials_left_off: left_off } as const;
  if (decides !== null) return [{ ...asked, ...spoken(outcomeOf(decides)) }];
  return [
    {
      ...asked,
      action: 'allow',
      rule: 'default.allow',
      reason: 'No rule about the crossing itself matches.',
    },
  ];
}

function spoken({ action, rule, reason }: Pick<Said, 'action' | 'rule' | 'reason'>) {
  return { action, rule, reason };
}

/** Each tag and severity once, however often it was found. */
function foundVoices(recalled: Recollection, policy: Policy): Said[] {
  const seen = new Map<string, { tag: Tag; severity: Severity }>();
  for (const { tags, severity } of recalled.findings)
    for (const tag of tags) seen.set(`${severity} ${tag}`, { tag, severity });
  return [...seen.values()].map(({ tag, severity }) => tagVoice(recalled, policy, tag, severity));
}

function tagVoice(recalled: Recollection, policy: Policy, tag: Tag, severity: Severity | null): Said {
  const { decides, trials, left_off } = trialsOf(recalled, policy, { tag, severity });
  const asked = { about: 'tag', tag, severity, origin: 'found', trials, trials_left_off: left_off } as const;
  if (decides !== null) return { ...asked, ...spoken(outcomeOf(decides)) };
  if (isFact(tag)) return { ...asked, action: 'allow', rule: 'default.allow', reason: NO_RULE };
  return { ...asked, ...spoken(outcomeOfDefault(tag, policy, recalled.crossing)) };
}

const NO_RULE = 'It is a fact, and no rule names it.';

function declaredVoices(recalled: Recollection, policy: Policy, { masked }: Heard): Said[] {
  const { crossing, declared } = recalled;
  const table = tableFor(recalled, policy);
  const circumstances = askedWith(recalled);
  return declared.map((tag) => {
    const ruleFor = () => ruleForTag(table, { tag, severity: null }, circumstances, []);
    const [outcome] = outcomeOfDeclared(tag, policy, ruleFor, masked, null, crossing);
    const origin = crossing.declared_tags.includes(tag) ? ('declared' as const) : ('fact' as const);
    const voice = { ...tagVoice(recalled, policy, tag, null), origin };
    return outcome === undefined ? voice : { ...voice, ...spoken(outcome) };
  });
}

function strippingVoice(recalled: Recollection, policy: Policy): Said[] {
  const { stripping } = hearingOf(recalled, policy);
  if (stripping === null || stripping.enforcement === 'monitor') return [];
  return [{ ...SILENT, about: 'contract', ...spoken(stripping.outcome) }];
}
