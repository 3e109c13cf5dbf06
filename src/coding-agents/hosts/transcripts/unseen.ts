import type { AuditEvent, AuditFilter, AuditPage } from '../../../runtime/audit/types.ts';
import type { ToolRun, Transcript, TranscriptForm } from './transcript.ts';

/** What the audit trail has of the calls that a host's hooks were asked about. */
export interface Seen {
  /** The host's names for calls. */
  readonly ids: ReadonlySet<string>;
  /** How often a tool was asked about in a session, where the host names no call. */
  readonly counts: ReadonlyMap<string, number>;
  /** When the oldest of these was asked about; `null`: there is none. */
  readonly first_ms: number | null;
  /** There are more, and they were not looked at. */
  readonly is_partial: boolean;
}

/** A session in which a host ran tools that its hook was not asked about. */
export interface UnseenSession {
  readonly session_id: string;
  readonly cwd: string | null;
  readonly first_ms: number | null;
  readonly last_ms: number | null;
  readonly run_count: number;
  /** How often each tool ran unseen, the most frequent first. */
  readonly unseen: readonly { readonly tool: string; readonly count: number }[];
  /** Whether a tool is among them about which the host does ask, and so should have. */
  readonly is_certain: boolean;
}

/** From when to when calls count, in milliseconds since 1970. */
export interface Window {
  readonly since_ms: number;
  readonly until_ms: number;
}

const PAGE_EVENTS = 10_000;
const PAGES_MAX = 50;
/** Sessions are told by two clocks, and a hook writes its event a moment after the call. */
const SLACK_MS = 60_000;

/** Looks up what a host's hooks were asked about since a time. */
export async function seenSince(
  query: (filter: AuditFilter) => Promise<AuditPage>,
  form: TranscriptForm,
  since_ms: number,
): Promise<Seen> {
  const ids = new Set<string>();
  const counts = new Map<string, number>();
  const taken = new Set<string>();
  let first: AuditEvent | null = null;
  let until: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { events } = await query({
      metadata_key: 'hook',
      metadata_value: form.host,
      since: new Date(since_ms - SLACK_MS).toISOString(),
      ...(until !== null && { until }),
      limit: PAGE_EVENTS,
    });
    const fresh = events.filter(({ event_id }) => !taken.has(event_id));
    for (const event of fresh) {
      taken.add(event.event_id);
      if (isCall(event)) note(event, form, ids, counts);
    }
    first = fresh.findLast(isCall) ?? first;
    if (events.length < PAGE_EVENTS || fresh.length === 0)
      return { ids, counts, first_ms: timeOf(first), is_partial: events.length === PAGE_EVENTS };
    until = events.at(-1)!.timestamp;
  }
  return { ids, counts, first_ms: timeOf(first), is_partial: true };
}

/** A question before a call, of a host and not of a probe; one that was refused unread has no phase. */
function isCall({ metadata }: AuditEvent): boolean {
  return (
    metadata.phase !== 'response' && metadata.endpoint === 'intercept_tool' && metadata.probe === undefined
  );
}

function note(
  { metadata, session_id, tool_name }: AuditEvent,
  form: TranscriptForm,
  ids: Set<string>,
  counts: Map<string, number>,
): void {
  if (typeof metadata.tool_use_id === 'string') ids.add(metadata.tool_use_id);
  const key = countKey(session_id, tool_name ?? '', form);
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function countKey(
  session_id: string | null,
  tool: string,
  { toolOf = (name) => name }: TranscriptForm,
): string {
  return JSON.stringify([session_id, toolOf(tool)]);
}

function timeOf(event: AuditEvent | null): number | null {
  return event === null ? null : Date.parse(event.timestamp);
}

/**
 * The sessions in which tools ran unseen, the newest first. Tools of which it is published that the host asks
 * no hook are not counted. What one session is told of in several files is put together.
 */
export function unseenSessions(
  form: TranscriptForm,
  transcripts: readonly Transcript[],
  seen: Seen,
  { since_ms, until_ms }: Window,
): readonly UnseenSession[] {
  const left = new Map(seen.counts);
  const isSeen = (session_id: string, { id, tool }: ToolRun): boolean => {
    if (id !== null) return seen.ids.has(id);
    const key = countKey(session_id, tool, form);
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count > 0;
  };
  const found = [...bySession(transcripts)].flatMap(([session_id, { cwd, runs }]) => {
    const lately = runs.filter(
      ({ at_ms, is_asked }) =>
        is_asked !== 'no' && (at_ms === null || (at_ms >= since_ms && at_ms <= until_ms)),
    );
    const unseen = lately.filter((run) => !isSeen(session_id, run));
    return unseen.length === 0 ? [] : [summed(session_id, cwd, lately.length, unseen)];
  });
  return found.sort((a, b) => (b.last_ms ?? 0) - (a.last_ms ?? 0));
}

type Together = { cwd: string | null; runs: ToolRun[]; ids: Set<string> };

function bySession(transcripts: readonly Transcript[]): Map<string, Together> {
  const sessions = new Map<string, Together>();
  for (const { session_id, cwd, runs } of transcripts) {
    const one = sessions.get(session_id) ?? { cwd, runs: [], ids: new Set() };
    one.cwd ??= cwd;
    for (const run of runs) {
      // A session that is gone on with may repeat what was before.
      if (run.id !== null && one.ids.has(run.id)) continue;
      if (run.id !== null) one.ids.add(run.id);
      one.runs.push(run);
    }
    sessions.set(session_id, one);
  }
  return sessions;
}

function summed(
  session_id: string,
  cwd: string | null,
  run_count: number,
  unseen: readonly ToolRun[],
): UnseenSession {
  const counts = new Map<string, number>();
  for (const { tool } of unseen) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  const times = unseen.flatMap(({ at_ms }) => at_ms ?? []).sort((a, b) => a - b);
  return {
    session_id,
    cwd,
    first_ms: times[0] ?? null,
    last_ms: times.at(-1) ?? null,
    run_count,
    unseen: [...counts]
      .sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
      .map(([tool, count]) => ({ tool, count })),
    is_certain: unseen.some(({ is_asked }) => is_asked === 'yes'),
  };
}
