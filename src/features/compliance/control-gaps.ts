import type { Tag } from '../../core/types/index.ts';
import type { ControlMapping, DataRequirement, Place } from './mapping-types.ts';
import { getMechanism, type Mechanism } from './mechanisms.ts';
import type { TagState } from './policy-state.ts';
import { listSpans, type PolicyTimeline, type Span, type TimelineInterval } from './policy-timeline.ts';
import type { ControlGap } from './report-types.ts';

const PLACE_WORDS: Readonly<Record<Place, string>> = {
  input: 'input',
  call: 'tool calls',
  result: 'tool results',
  output: 'output',
};

/** A requirement of a control that a policy meets or not: a tag at a place, or a mechanism, for a tenant. */
export interface Requirement {
  readonly tenant_id: string;
  readonly subject:
    | { readonly tag: Tag; readonly place: Place; readonly expect: DataRequirement['expect'] }
    | Mechanism;
}

/** Lists the requirements of a control, for each of some tenants. */
export function listRequirements(control: ControlMapping, tenants: readonly string[]): Requirement[] {
  const tags = control.tags.flatMap(({ tag, places, expect }) =>
    places.map((place) => ({ tag, place, expect })),
  );
  return tenants.flatMap((tenantId) =>
    [...tags, ...control.mechanisms].map((subject) => ({ tenant_id: tenantId, subject })),
  );
}

/** The reason why a requirement is not met, as a clause. */
interface FaultReason {
  readonly clause: string;
  /** The tenant whose own rule the clause names; `null` if it names none. */
  readonly rule_tenant_id: string | null;
}

/** Returns `null` if the requirement is met. */
function findFault({ subject, tenant_id }: Requirement, { view }: TimelineInterval): FaultReason | null {
  if (view === null) return null;
  if (typeof subject === 'string') {
    const { state, detail } = getMechanism(subject).evaluate(view.policy, tenant_id);
    if (state === 'active' || state === 'available') return null;
    const { title } = getMechanism(subject);
    const clause = `${title}: ${state === 'monitor' ? 'in monitor mode only' : 'not active'} (${detail}).`;
    return { clause, rule_tenant_id: null };
  }
  const state = view.evaluateTag(subject.tag, subject.place, tenant_id);
  const clause = describeTagFault(subject.expect, state);
  return clause === null ? null : { clause, rule_tenant_id: state.rule_tenant_id };
}

function describeTagFault(
  expect: DataRequirement['expect'],
  { state, action, rule }: TagState,
): string | null {
  switch (state) {
    case 'enforced':
      return null;
    case 'recorded':
      return expect === 'record' ? null : `recorded and not stopped (rule \`${rule}\`, action \`${action}\`)`;
    case 'monitored':
      return `rule \`${rule}\` is in monitor mode: it would \`${action}\` and did not`;
    case 'allowed':
      return `no rule acts (rule \`${rule}\`, action \`${action}\`)`;
    case 'off':
      return DETECTORS_OFF;
  }
}

const DETECTORS_OFF = 'its detectors are off';

/** The requirements of a control that the policies of a window met. */
export interface RequirementResult {
  readonly gaps: readonly ControlGap[];
  /** The number of requirements, and of those that were met during the whole window, and at some time. */
  readonly total: number;
  readonly met_always: number;
  readonly met_sometimes: number;
}

/** Compares the requirements of a control with the policies of a window. */
export function evaluateRequirements(
  requirements: readonly Requirement[],
  timeline: PolicyTimeline,
): RequirementResult {
  const faults: Fault[] = [];
  let metAlways = 0;
  let metSometimes = 0;
  for (const requirement of requirements) {
    const spans = listSpans(
      timeline,
      (each) => findFault(requirement, each),
      (reason) => JSON.stringify(reason),
    );
    const failed = spans.filter(({ value }) => value !== null) as Span<FaultReason>[];
    if (failed.length === 0) metAlways += 1;
    if (failed.length < spans.length) metSometimes += 1;
    faults.push(...failed.map((span) => ({ ...requirement, ...span })));
  }
  return {
    gaps: joinFaults(faults, requirements),
    total: requirements.length,
    met_always: metAlways,
    met_sometimes: metSometimes,
  };
}

type Fault = Requirement & Span<FaultReason>;

/** Joins the faults that have the same reason and time: one sentence for all places and tenants. */
function joinFaults(faults: readonly Fault[], requirements: readonly Requirement[]): ControlGap[] {
  const tenantCount = new Set(requirements.map(({ tenant_id }) => tenant_id)).size;
  const groups = new Map<string, Fault[]>();
  for (const fault of faults) {
    const about = typeof fault.subject === 'string' ? fault.subject : fault.subject.tag;
    const key = JSON.stringify([about, fault.value, fault.from_ms, fault.to_ms]);
    groups.set(key, [...(groups.get(key) ?? []), fault]);
  }
  return [...groups.values()].map((group) => {
    const { subject, value, from_ms, to_ms } = group[0]!;
    const { clause, rule_tenant_id } = value;
    const concerned = [...new Set(group.map(({ tenant_id }) => tenant_id))];
    const about = {
      tenants: concerned.length === tenantCount ? null : concerned,
      tenant_id: rule_tenant_id,
      since: formatMs(from_ms),
      until: formatMs(to_ms),
    };
    if (typeof subject === 'string') {
      const { advice } = getMechanism(subject);
      return { kind: 'policy', message: [clause, advice].filter(Boolean).join(' '), ...about };
    }
    const places = [...new Set(group.map((each) => PLACE_WORDS[(each.subject as { place: Place }).place]))];
    const kind = clause === DETECTORS_OFF ? 'detector' : 'policy';
    return { kind, message: `\`${subject.tag}\` in ${joinNames(places)}: ${clause}.`, ...about };
  });
}

/** Joins names for a sentence: `input, tool calls and output`. */
export function joinNames(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** Lists the gaps that concern single rules and detectors: in monitor mode, gone or off in a part of the window. */
export function listDetectorGaps(control: ControlMapping, timeline: PolicyTimeline): ControlGap[] {
  return control.tags.flatMap(({ tag }) =>
    listSpans(
      timeline,
      ({ view }) => view?.listDisabledDetectors(tag) ?? { disabled: [], total: 0 },
      ({ disabled }) => disabled.join(' '),
    )
      .filter(({ value: { disabled, total } }) => disabled.length > 0 && disabled.length < total)
      .map(({ value: { disabled, total }, from_ms, to_ms }) => ({
        kind: 'detector' as const,
        message: `${disabled.length} of ${total} detectors of \`${tag}\` are off: ${formatSomeNames(disabled)}.`,
        tenants: null,
        tenant_id: null,
        since: formatMs(from_ms),
        until: formatMs(to_ms),
      })),
  );
}

const NAMED_MAX = 12;

function formatSomeNames(names: readonly string[]): string {
  const some = names.slice(0, NAMED_MAX).map((name) => `\`${name}\``);
  return names.length > NAMED_MAX
    ? `${some.join(', ')} and ${names.length - NAMED_MAX} more`
    : joinNames(some);
}

/** Formats a time as ISO 8601, UTC. */
export function formatMs(ms: number): string {
  return new Date(ms).toISOString();
}
