import { createHash } from 'node:crypto';
import { sep } from 'node:path';
import type { Machine } from '../../../coding-agents/hosts/index.ts';
import { transcriptForms } from '../../../coding-agents/hosts/transcripts/forms.ts';
import { readTranscripts } from '../../../coding-agents/hosts/transcripts/read.ts';
import type { Transcript, TranscriptForm } from '../../../coding-agents/hosts/transcripts/transcript.ts';
import {
  type Seen,
  seenSince,
  type UnseenSession,
  unseenSessions,
  type Window,
} from '../../../coding-agents/hosts/transcripts/unseen.ts';
import type { LocalRuntime } from '../../../server/local.ts';
import { counted } from '../table.ts';
import { type Check, fail, NOWHERE, ok, type Place, warn } from './check.ts';
import type { FoundHost } from './found.ts';

/** A session in which a host ran tools that the hook never saw, for a program: names and times, and nothing else. */
export interface SessionReport {
  readonly host: string;
  readonly session_id: string;
  /** ISO 8601, of the unseen ones; `null`: the transcript does not say. */
  readonly first: string | null;
  readonly last: string | null;
  readonly run_count: number;
  readonly unseen: readonly { readonly tool: string; readonly count: number }[];
  /** `before_setup`: all of it was before the hook was there. `uncertain`: the host may not ask about these tools. */
  readonly kind: 'unseen' | 'uncertain' | 'before_setup';
}

export interface Compared {
  readonly checks: readonly Check[];
  readonly sessions: readonly SessionReport[];
}

/** What is compared. */
export interface Comparing {
  readonly found: FoundHost;
  readonly machine: Machine;
  /** The audit trails into which the hooks of the host write. */
  readonly trails: readonly Pick<LocalRuntime, 'queryAudit'>[];
  readonly since_ms: number;
  readonly now_ms: number;
}

/** A call that was written down a moment ago may be asked about at this moment. */
const ON_ITS_WAY_MS = 60_000;

/** Compares what a host wrote down of its sessions with what its hooks were asked. */
export async function compareSessions({
  found,
  machine,
  trails,
  since_ms,
  now_ms,
}: Comparing): Promise<Compared> {
  const { host } = found;
  const place: Place = { ...NOWHERE, host: host.name };
  const where = host.transcripts(machine);
  const form = transcriptForms.find((each) => each.host === host.name);
  if (where === null || form === undefined)
    return only(
      warn(
        'sessions.read',
        place,
        `Tool calls of ${host.label} cannot be compared with the audit trail, because its transcripts have no published format.`,
        null,
      ),
    );
  if (trails.length === 0)
    return only(
      warn(
        'sessions.read',
        place,
        'There is no audit trail to compare sessions with.',
        'Fix the problems above, then run the command again.',
      ),
    );
  try {
    const read = await readTranscripts(form, where, since_ms);
    const mine = read.transcripts.filter((one) => isGuarded(one, found, machine));
    const seen = joined(
      await Promise.all(trails.map(({ queryAudit }) => seenSince(queryAudit, form, since_ms))),
    );
    const sessions = reportsOf(form, mine, seen, found, { since_ms, until_ms: now_ms - ON_ITS_WAY_MS });
    const { left_out } = read;
    return { checks: [...summaries(sessions, mine, place), ...partial(left_out, seen, place)], sessions };
  } catch (failure) {
    const why = (failure as NodeJS.ErrnoException).code ?? (failure as Error).name;
    return only(
      warn(
        'sessions.read',
        place,
        `The sessions could not be compared with the audit trail (${why}).`,
        'Try a shorter --since.',
      ),
    );
  }
}

function only(check: Check): Compared {
  return { checks: [check], sessions: [] };
}

/** Hooks of a project see what is done in it; with one for the user, or for all, every session counts. */
function isGuarded({ cwd, cwd_sha256 }: Transcript, { files }: FoundHost, { project }: Machine): boolean {
  const is_everywhere = files.some(
    ({ place, hooks }) => hooks.length > 0 && (place.scope === 'user' || place.scope === 'managed'),
  );
  if (is_everywhere) return true;
  if (cwd !== null) return cwd === project || cwd.startsWith(`${project}${sep}`);
  return cwd_sha256 === null || cwd_sha256 === createHash('sha256').update(project).digest('hex');
}

function joined(all: readonly Seen[]): Seen {
  const counts = new Map<string, number>();
  for (const seen of all)
    for (const [key, count] of seen.counts) counts.set(key, (counts.get(key) ?? 0) + count);
  const firsts = all.flatMap(({ first_ms }) => first_ms ?? []).sort((a, b) => a - b);
  return {
    ids: new Set(all.flatMap(({ ids }) => [...ids])),
    counts,
    first_ms: firsts[0] ?? null,
    is_partial: all.some(({ is_partial }) => is_partial),
  };
}

function reportsOf(
  form: TranscriptForm,
  transcripts: readonly Transcript[],
  seen: Seen,
  found: FoundHost,
  window: Window,
): readonly SessionReport[] {
  const written = found.files.filter(({ hooks }) => hooks.length > 0).map(({ mtime_ms }) => mtime_ms);
  // Who takes the hook away for a while and puts it back changes the file, but not the first event.
  const began_ms = Math.min(seen.first_ms ?? Number.POSITIVE_INFINITY, ...written);
  return unseenSessions(form, transcripts, seen, window).map((session) => ({
    host: form.host,
    session_id: session.session_id,
    first: isoOf(session.first_ms),
    last: isoOf(session.last_ms),
    run_count: session.run_count,
    unseen: session.unseen,
    kind: kindOf(session, began_ms),
  }));
}

function kindOf({ last_ms, is_certain }: UnseenSession, began_ms: number): SessionReport['kind'] {
  if (last_ms !== null && last_ms < began_ms) return 'before_setup';
  return is_certain ? 'unseen' : 'uncertain';
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function summaries(
  sessions: readonly SessionReport[],
  looked_at: readonly Transcript[],
  place: Place,
): readonly Check[] {
  const countOf = (kind: SessionReport['kind']): number =>
    sessions.filter((each) => each.kind === kind).length;
  const [unseen, uncertain, before] = [countOf('unseen'), countOf('uncertain'), countOf('before_setup')];
  const checks: Check[] = [];
  const session_count = new Set(looked_at.map(({ session_id }) => session_id)).size;
  if (unseen > 0)
    checks.push(
      fail(
        'sessions.seen',
        place,
        `In ${counted(unseen, 'session')} the coding agent ran tools that the hook never saw.`,
        'Review these sessions. Then find the reason above: the hook was removed, not trusted, installed late, or installed for some tools only.',
      ),
    );
  if (uncertain > 0)
    checks.push(
      warn(
        'sessions.seen',
        place,
        `In ${counted(uncertain, 'session')} tools ran without the hook. It is not documented whether the coding agent calls hooks for them.`,
        null,
      ),
    );
  if (before > 0)
    checks.push(
      warn(
        'sessions.seen',
        place,
        `In ${counted(before, 'session')} tools ran before the hook was installed.`,
        null,
      ),
    );
  if (checks.length === 0)
    checks.push(
      ok(
        'sessions.seen',
        place,
        session_count === 0
          ? 'There are no transcripts in this period.'
          : `The hook was called for every tool that ran in ${counted(session_count, 'session')}, up to a minute ago.`,
      ),
    );
  return checks;
}

function partial(left_out: number, seen: Seen, place: Place): readonly Check[] {
  const checks: Check[] = [];
  if (left_out > 0)
    checks.push(
      warn(
        'sessions.read',
        place,
        `${counted(left_out, 'part')} of transcripts cannot be read or are too long.`,
        null,
      ),
    );
  if (seen.is_partial)
    checks.push(
      warn(
        'sessions.read',
        place,
        'Only the newest events of the audit trail were searched.',
        'Use a shorter --since.',
      ),
    );
  return checks;
}
