import type { AuditEvent, AuditFilter, AuditPage } from '../../runtime/audit/types.ts';
import type { ToolRun, Transcript, TranscriptFormat } from '../record/transcript.ts';

/** The calls for which an agent's hooks have events in the audit log. */
export interface AuditedCalls {
  /** The agent's IDs of calls. */
  readonly ids: ReadonlySet<string>;
  /** The number of calls by session and tool, for agents without call IDs. */
  readonly counts: ReadonlyMap<string, number>;
  /** The time of the oldest call; `null` if there is none. */
  readonly first_ms: number | null;
  /** True if the audit log has more events than were read. */
  readonly is_partial: boolean;
}

/** A session in which an agent ran tools without calling its hook. */
export interface UnseenSession {
  readonly session_id: string;
  readonly cwd: string | null;
  readonly first_ms: number | null;
  readonly last_ms: number | null;
  readonly run_count: number;
  /** The number of unseen calls of each tool, most frequent first. */
  readonly unseen: readonly { readonly tool: string; readonly count: number }[];
  /** True if the agent is documented to call its hooks for at least one of these tools. */
  readonly is_certain: boolean;
}

/** A time range, in milliseconds since 1970. */
export interface TimeWindow {
  readonly since_ms: number;
  readonly until_ms: number;
}

const PAGE_EVENTS = 10_000;
const PAGES_MAX = 50;
/** Transcript and audit log use two clocks, and a hook writes its event shortly after the call. */
const SLACK_MS = 60_000;

/** An agent's name, which its events carry, and the format of its transcripts. */
export interface NamedFormat {
  readonly name: string;
  readonly format: TranscriptFormat;
}

/** Reads the calls since a time for which an agent's hooks have events. */
export async function findAuditedCalls(
  query: (filter: AuditFilter) => Promise<AuditPage>,
  { name: agent, format }: NamedFormat,
  sinceMs: number,
): Promise<AuditedCalls> {
  const ids = new Set<string>();
  const counts = new Map<string, number>();
  const taken = new Set<string>();
  let first: AuditEvent | null = null;
  let until: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { events } = await query({
      metadata_key: 'hook',
      metadata_value: agent,
      since: new Date(sinceMs - SLACK_MS).toISOString(),
      ...(until !== null && { until }),
      limit: PAGE_EVENTS,
    });
    const fresh = events.filter(({ event_id }) => !taken.has(event_id));
    for (const event of fresh) {
      taken.add(event.event_id);
      if (isCall(event)) countCall(event, format, ids, counts);
    }
    first = fresh.findLast(isCall) ?? first;
    if (events.length < PAGE_EVENTS || fresh.length === 0)
      return { ids, counts, first_ms: readEventTime(first), is_partial: events.length === PAGE_EVENTS };
    until = events.at(-1)!.timestamp;
  }
  return { ids, counts, first_ms: readEventTime(first), is_partial: true };
}

/** Returns whether an event is of a tool request that is no probe. The event of an unreadable request has no phase. */
function isCall({ metadata }: AuditEvent): boolean {
  return (
    metadata.phase !== 'response' && metadata.endpoint === 'intercept_tool' && metadata.probe === undefined
  );
}

function countCall(
  { metadata, session_id, tool_name }: AuditEvent,
  format: TranscriptFormat,
  ids: Set<string>,
  counts: Map<string, number>,
): void {
  if (typeof metadata.tool_use_id === 'string') ids.add(metadata.tool_use_id);
  const key = buildCountKey(session_id, tool_name ?? '', format);
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function buildCountKey(
  sessionId: string | null,
  tool: string,
  { normalizeTool = (name) => name }: TranscriptFormat,
): string {
  return JSON.stringify([sessionId, normalizeTool(tool)]);
}

function readEventTime(event: AuditEvent | null): number | null {
  return event === null ? null : Date.parse(event.timestamp);
}

/**
 * Returns the sessions in which tools ran without a hook, newest first. Tools for which the agent is documented not to
 * call hooks are not counted. Transcripts of one session in several files are merged.
 */
export function findUnseenSessions(
  format: TranscriptFormat,
  transcripts: readonly Transcript[],
  seen: AuditedCalls,
  { since_ms, until_ms }: TimeWindow,
): readonly UnseenSession[] {
  const remaining = new Map(seen.counts);
  const isSeen = (sessionId: string, { id, tool }: ToolRun): boolean => {
    if (id !== null) return seen.ids.has(id);
    const key = buildCountKey(sessionId, tool, format);
    const count = remaining.get(key) ?? 0;
    remaining.set(key, count - 1);
    return count > 0;
  };
  const found = [...mergeSessions(transcripts)].flatMap(([sessionId, { cwd, runs }]) => {
    const inWindow = runs.filter(
      ({ at_ms, calls_hook }) =>
        calls_hook !== 'no' && (at_ms === null || (at_ms >= since_ms && at_ms <= until_ms)),
    );
    const unseen = inWindow.filter((run) => !isSeen(sessionId, run));
    return unseen.length === 0 ? [] : [summarizeSession(sessionId, cwd, inWindow.length, unseen)];
  });
  return found.sort((a, b) => (b.last_ms ?? 0) - (a.last_ms ?? 0));
}

type MergedSession = { cwd: string | null; runs: ToolRun[]; ids: Set<string> };

function mergeSessions(transcripts: readonly Transcript[]): Map<string, MergedSession> {
  const sessions = new Map<string, MergedSession>();
  for (const { session_id, cwd, runs } of transcripts) {
    const one = sessions.get(session_id) ?? { cwd, runs: [], ids: new Set() };
    one.cwd ??= cwd;
    for (const run of runs) {
      // A resumed session may repeat earlier calls.
      if (run.id !== null && one.ids.has(run.id)) continue;
      if (run.id !== null) one.ids.add(run.id);
      one.runs.push(run);
    }
    sessions.set(session_id, one);
  }
  return sessions;
}

function summarizeSession(
  sessionId: string,
  cwd: string | null,
  runCount: number,
  unseen: readonly ToolRun[],
): UnseenSession {
  const counts = new Map<string, number>();
  for (const { tool } of unseen) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  const times = unseen.flatMap(({ at_ms }) => at_ms ?? []).sort((a, b) => a - b);
  return {
    session_id: sessionId,
    cwd,
    first_ms: times[0] ?? null,
    last_ms: times.at(-1) ?? null,
    run_count: runCount,
    unseen: [...counts]
      .sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
      .map(([tool, count]) => ({ tool, count })),
    is_certain: unseen.some(({ calls_hook }) => calls_hook === 'yes'),
  };
}
