import { covers } from '../../core/tags.ts';
import type { Rule } from '../../core/types/index.ts';
import { formatMs, joinNames } from './control-gaps.ts';
import { matchesKind } from './event-kinds.ts';
import type { ControlMapping } from './mapping-types.ts';
import { getMechanism, type Mechanism, type MechanismState } from './mechanisms.ts';
import { listSpans, type PolicyTimeline } from './policy-timeline.ts';
import type { ControlElement, ControlGap, ElementState } from './report-types.ts';

/** The elements of one control at most. */
const ELEMENTS_MAX = 60;

/** Lists what carried a control in a window: rules and mechanisms, and when each was active. */
export function listElements(
  control: ControlMapping,
  timeline: PolicyTimeline,
  tenants: '*' | readonly string[],
): ControlElement[] {
  const rules = collectRules(control, timeline, tenants);
  return [
    ...control.mechanisms.map((name) => describeMechanism(name, timeline, tenants)),
    ...rules.map((rule) => describeRule(rule, timeline)),
  ].slice(0, ELEMENTS_MAX);
}

/** Returns the gaps of rules that were active in one part of the window and not in another. */
export function listRuleGaps(elements: readonly ControlElement[]): ControlGap[] {
  return elements
    .filter(({ kind, states }) => kind === 'rule' && states.some(({ state }) => state !== 'inactive'))
    .flatMap(({ name, states, tenant_id }) =>
      states
        .filter(({ state }) => state !== 'active')
        .map(({ state, since, until }) => ({
          kind: 'policy' as const,
          message: `Rule \`${name}\` ${state === 'monitor' ? 'was in monitor mode' : 'was not part of the policy'}.`,
          tenants: tenant_id === null ? null : [tenant_id],
          tenant_id,
          since,
          until,
        })),
    );
}

/** Collects the rules of all policies that act on the tags of a control, or that it names. */
function collectRules(
  control: ControlMapping,
  timeline: PolicyTimeline,
  tenants: '*' | readonly string[],
): Rule[] {
  const rules = new Map<string, Rule>();
  for (const { view } of timeline.intervals)
    for (const rule of view?.listRules(tenants) ?? [])
      if (isRelevant(rule, control) && !rules.has(getKey(rule))) rules.set(getKey(rule), rule);
  return [...rules.values()];
}

function getKey({ name, tenant_id }: Rule): string {
  return `${tenant_id ?? ''}\0${name}`;
}

function isRelevant(rule: Rule, { tags, rules, mechanisms }: ControlMapping): boolean {
  // A built-in rule that only flags is evidence, not an element of its own.
  if (rule.name.startsWith('builtin.') && rule.action === 'flag') return false;
  if (rules.some((kind) => matchesKind(rule.name, kind))) return true;
  if (mechanisms.includes('approvals') && rule.action === 'require_approval') return true;
  if (mechanisms.includes('taint_tags') && rule.session_tags.length > 0) return true;
  return rule.data_tags.some((own) => tags.some(({ tag }) => covers(own, tag) || covers(tag, own)));
}

const ACTION_WORDS: Readonly<Record<Rule['action'], string>> = {
  allow: 'allows',
  flag: 'flags',
  redact: 'redacts',
  require_approval: 'asks for approval',
  block: 'blocks',
};

function describeRule(rule: Rule, timeline: PolicyTimeline): ControlElement {
  const places = rule.boundaries.map((boundary) =>
    boundary !== 'action'
      ? boundary
      : rule.phases.length === 1 && rule.phases[0] === 'response'
        ? 'tool results'
        : 'actions',
  );
  const where = places.length === 0 ? 'everywhere' : `in ${joinNames([...new Set(places)])}`;
  const what = rule.data_tags.length === 0 ? '' : ` ${joinNames(rule.data_tags.map((tag) => `\`${tag}\``))}`;
  const limits = [
    rule.tools.length > 0 && 'for some tools',
    rule.agents.length > 0 && 'for some agents',
    rule.when !== null && 'under a condition',
    rule.session_tags.length > 0 && 'by taint tags of the session',
    rule.severity_min !== null && `from severity ${rule.severity_min} on`,
  ].filter((each) => each !== false);
  const detail = [`${ACTION_WORDS[rule.action]}${what} ${where}`, ...limits].join(', ');
  const states = listSpans(timeline, ({ view }) => getState(rule, view?.listRules('*') ?? []), String);
  return {
    kind: 'rule',
    name: rule.name,
    detail,
    tenant_id: rule.tenant_id,
    states: states.map(formatState),
  };
}

function getState(rule: Rule, rules: readonly Rule[]): ElementState['state'] {
  const found = rules.find((each) => getKey(each) === getKey(rule));
  if (found === undefined) return 'inactive';
  return found.enforcement === 'monitor' ? 'monitor' : 'active';
}

function describeMechanism(
  name: Mechanism,
  timeline: PolicyTimeline,
  tenants: '*' | readonly string[],
): ControlElement {
  const { title, evaluate } = getMechanism(name);
  const tenant = tenants === '*' ? '*' : (tenants[0] ?? 'default');
  const spans = listSpans(
    timeline,
    ({ view }): MechanismState =>
      view === null ? { state: 'inactive', detail: '' } : evaluate(view.policy, tenant),
    ({ state }) => state,
  );
  const detail = spans.at(-1)?.value.detail ?? '';
  const states = spans.map(({ value, ...span }) => formatState({ ...span, value: value.state }));
  return { kind: 'mechanism', name: title, detail, tenant_id: null, states };
}

function formatState({
  from_ms,
  to_ms,
  value,
}: {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly value: ElementState['state'];
}): ElementState {
  return { state: value, since: formatMs(from_ms), until: formatMs(to_ms) };
}
