import type { Action } from '../../core/types/index.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { EventWindow, WindowCount, WindowCounts } from '../../runtime/audit/window-types.ts';
import { formatMs } from './control-gaps.ts';
import { matchesKind } from './event-kinds.ts';
import type { ControlMapping } from './mapping-types.ts';
import type { ActionCounts, EvidenceCount } from './report-types.ts';

/** The sample events of one control at most. */
const SAMPLES_MAX = 5;
/** The rows of evidence of one control at most; the most frequent ones. */
const COUNTS_MAX = 24;

/** Returns counts of zero. */
export function countNothing(): Record<Action, number> {
  return { allow: 0, flag: 0, redact: 0, require_approval: 0, block: 0 };
}

/** Sums counts by action. */
export function sumActions(counts: readonly WindowCount[]): ActionCounts {
  const sums = countNothing();
  for (const { action, count } of counts) if (action in sums) sums[action as Action] += count;
  return sums;
}

/** Sums counts by value, most frequent first. */
export function sumValues(counts: readonly WindowCount[]): [value: string, events: number][] {
  const sums = new Map<string, number>();
  for (const { value, count } of counts) sums.set(value, (sums.get(value) ?? 0) + count);
  return [...sums].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

/** Counts the events that are evidence of a control. */
export function countEvidence(
  control: ControlMapping,
  fields: WindowCounts,
  rules: readonly string[],
): EvidenceCount[] {
  const byRule = groupValues(fields.rule ?? []);
  const byTag = groupValues(fields.tag_family ?? []);
  const rows: EvidenceCount[] = [];
  for (const [name, counts] of byRule) {
    const isKind = control.events.some((kind) => matchesKind(name, kind));
    const isRule = rules.includes(name) || control.rules.some((kind) => matchesKind(name, kind));
    if (isKind || isRule) rows.push(buildRow(isKind ? 'event' : 'rule', name, counts));
  }
  for (const tag of new Set(control.tags.map((each) => each.tag))) {
    const counts = byTag.get(tag);
    if (counts !== undefined) rows.push(buildRow('tag', tag, counts));
  }
  return rows.toSorted((a, b) => b.events - a.events || (a.name < b.name ? -1 : 1)).slice(0, COUNTS_MAX);
}

function groupValues(counts: readonly WindowCount[]): Map<string, WindowCount[]> {
  const groups = new Map<string, WindowCount[]>();
  for (const each of counts) groups.set(each.value, [...(groups.get(each.value) ?? []), each]);
  return groups;
}

function buildRow(kind: EvidenceCount['kind'], name: string, counts: readonly WindowCount[]): EvidenceCount {
  return {
    kind,
    name,
    events: counts.reduce((sum, { count }) => sum + count, 0),
    actions: sumActions(counts),
    first: formatMs(Math.min(...counts.map(({ first_ms }) => first_ms))),
    last: formatMs(Math.max(...counts.map(({ last_ms }) => last_ms))),
  };
}

/** Finds sample events of a window, and keeps the results: many controls have the same evidence. */
export function openSampler({ queryAudit }: Pick<Runtime, 'queryAudit'>, window: EventWindow) {
  const known = new Map<string, Promise<readonly string[]>>();
  const base = {
    since: formatMs(window.since_ms),
    until: formatMs(window.until_ms - 1),
    any_of: {
      ...(window.tenants !== '*' && { tenant_id: window.tenants }),
      ...(window.agents !== '*' && { agent_id: window.agents }),
    },
    decisions_only: true,
    without_self_tests: true,
    newest_first: true,
  } as const;
  const find = async (filter: object, limit: number): Promise<readonly string[]> => {
    const { events } = await queryAudit({ ...base, ...filter, limit });
    return events.map(({ event_id }) => event_id);
  };
  const findKept = (filter: Readonly<Record<string, string>>, limit: number) => {
    const key = JSON.stringify([filter, limit]);
    const found = known.get(key) ?? find(filter, limit);
    known.set(key, found);
    return found;
  };
  return {
    /** Finds the newest events of the window that changed, blocked or held something; else the newest of all. */
    findNewest: async (limit: number): Promise<readonly string[]> => {
      const anyOf = { ...base.any_of, action: ['redact', 'require_approval', 'block'] };
      const incidents = await find({ any_of: anyOf }, limit);
      return incidents.length > 0 ? incidents : find({}, limit);
    },
    /** Finds the newest events behind rows of evidence: at most two of each row. */
    findForRows: async (rows: readonly EvidenceCount[]): Promise<readonly string[]> => {
      const found: string[] = [];
      for (const { kind, name } of rows) {
        if (found.length >= SAMPLES_MAX) break;
        const filter = kind === 'tag' ? { data_tag: name } : { policy_name: name };
        const ids = await findKept(filter as Readonly<Record<string, string>>, 2);
        found.push(...ids.filter((id) => !found.includes(id)));
      }
      return found.slice(0, SAMPLES_MAX).toSorted().toReversed();
    },
  };
}
