import { createHash } from 'node:crypto';
import { sep } from 'node:path';
import type { CodingAgent } from '../../../coding-agents/record/coding-agent.ts';
import type { SettingsFile } from '../../../coding-agents/record/doctor.ts';
import {
  buildFailedCheck,
  buildPassedCheck,
  buildWarningCheck,
  type CheckSubject,
  type DoctorCheck,
  NO_SUBJECT,
} from '../../../coding-agents/record/doctor-check.ts';
import type { Machine } from '../../../coding-agents/record/settings.ts';
import type { Transcript } from '../../../coding-agents/record/transcript.ts';
import { readTranscripts } from '../../../coding-agents/transcripts/read-transcripts.ts';
import {
  type AuditedCalls,
  findAuditedCalls,
  findUnseenSessions,
  type NamedFormat,
  type TimeWindow,
  type UnseenSession,
} from '../../../coding-agents/transcripts/unseen-sessions.ts';
import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import type { LocalRuntime } from '../../../operations/runtime.ts';

/** A session in which an agent ran tools without calling the hook. It holds only names and times. */
export interface SessionReport {
  readonly coding_agent: string;
  readonly session_id: string;
  /** The time of the first unseen call in ISO 8601; `null` if the transcript does not say. */
  readonly first: string | null;
  readonly last: string | null;
  readonly run_count: number;
  readonly unseen: readonly { readonly tool: string; readonly count: number }[];
  /** `before_setup`: before the hook was installed. `uncertain`: the agent may not call hooks for these tools. */
  readonly kind: 'unseen' | 'uncertain' | 'before_setup';
}

export interface SessionComparison {
  readonly checks: readonly DoctorCheck[];
  readonly sessions: readonly SessionReport[];
}

/** The agent, its hooks and the audit logs with which its transcripts are compared. */
export interface ComparisonRequest {
  readonly agent: CodingAgent;
  readonly files: readonly SettingsFile[];
  readonly machine: Machine;
  /** The audit logs into which the hooks of the agent write. */
  readonly audit_logs: readonly Pick<LocalRuntime, 'queryAudit'>[];
  readonly since_ms: number;
  readonly now_ms: number;
}

/** The hook for a call of the last minute may still be running. */
const PENDING_MS = 60_000;

/** Compares the transcripts of an agent with the events of its hooks. */
export async function compareSessions({
  agent,
  files,
  machine,
  audit_logs,
  since_ms,
  now_ms,
}: ComparisonRequest): Promise<SessionComparison> {
  const { name, label, settings, transcript: format } = agent;
  const subject: CheckSubject = { ...NO_SUBJECT, coding_agent: name };
  const location = settings.transcripts(machine);
  if (location === null || format === null)
    return reportOnly(
      buildWarningCheck(
        'sessions.read',
        subject,
        `Sessions of ${label} cannot be checked for tools that ran without the hook: the format of its transcripts is not published.`,
        null,
      ),
    );
  if (audit_logs.length === 0)
    return reportOnly(
      buildWarningCheck(
        'sessions.read',
        subject,
        'There is no audit log to compare the sessions with.',
        'Fix the failures above, then run this again.',
      ),
    );
  try {
    const read = await readTranscripts(format, location, since_ms);
    const guarded = read.transcripts.filter((each) => isGuarded(each, files, machine));
    const named = { name, format };
    const audited = mergeAuditedCalls(
      await Promise.all(audit_logs.map(({ queryAudit }) => findAuditedCalls(queryAudit, named, since_ms))),
    );
    const sessions = buildReports(named, guarded, audited, files, {
      since_ms,
      until_ms: now_ms - PENDING_MS,
    });
    const checks = [
      ...summarizeSessions(sessions, guarded, subject),
      ...warnIncomplete(read.skipped_count, audited, subject),
    ];
    return { checks, sessions };
  } catch (failure) {
    const why = (failure as NodeJS.ErrnoException).code ?? (failure as Error).name;
    return reportOnly(
      buildWarningCheck(
        'sessions.read',
        subject,
        `The sessions could not be compared with the audit log (${why}).`,
        'Try a shorter --since.',
      ),
    );
  }
}

function reportOnly(check: DoctorCheck): SessionComparison {
  return { checks: [check], sessions: [] };
}

/** Hooks of a project guard only its sessions. Those of a user or of the machine guard every session. */
function isGuarded(
  { cwd, cwd_sha256 }: Transcript,
  files: readonly SettingsFile[],
  { project }: Machine,
): boolean {
  const isEverywhere = files.some(
    ({ location, hooks }) => hooks.length > 0 && (location.scope === 'user' || location.scope === 'managed'),
  );
  if (isEverywhere) return true;
  if (cwd !== null) return cwd === project || cwd.startsWith(`${project}${sep}`);
  return cwd_sha256 === null || cwd_sha256 === createHash('sha256').update(project).digest('hex');
}

function mergeAuditedCalls(all: readonly AuditedCalls[]): AuditedCalls {
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

function buildReports(
  { name, format }: NamedFormat,
  transcripts: readonly Transcript[],
  audited: AuditedCalls,
  files: readonly SettingsFile[],
  window: TimeWindow,
): readonly SessionReport[] {
  const written = files.filter(({ hooks }) => hooks.length > 0).map(({ mtime_ms }) => mtime_ms);
  // Removing the hook and installing it again changes the time of the file, but not the first event.
  const installedMs = Math.min(audited.first_ms ?? Number.POSITIVE_INFINITY, ...written);
  return findUnseenSessions(format, transcripts, audited, window).map((session) => ({
    coding_agent: name,
    session_id: session.session_id,
    first: formatTime(session.first_ms),
    last: formatTime(session.last_ms),
    run_count: session.run_count,
    unseen: session.unseen,
    kind: classifySession(session, installedMs),
  }));
}

function classifySession({ last_ms, is_certain }: UnseenSession, installedMs: number): SessionReport['kind'] {
  if (last_ms !== null && last_ms < installedMs) return 'before_setup';
  return is_certain ? 'unseen' : 'uncertain';
}

function formatTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function summarizeSessions(
  sessions: readonly SessionReport[],
  transcripts: readonly Transcript[],
  subject: CheckSubject,
): readonly DoctorCheck[] {
  const countKind = (kind: SessionReport['kind']): number =>
    sessions.filter((each) => each.kind === kind).length;
  const [unseen, uncertain, before] = [
    countKind('unseen'),
    countKind('uncertain'),
    countKind('before_setup'),
  ];
  const checks: DoctorCheck[] = [];
  const sessionCount = new Set(transcripts.map(({ session_id }) => session_id)).size;
  if (unseen > 0)
    checks.push(
      buildFailedCheck(
        'sessions.seen',
        subject,
        `In ${formatCount(unseen, 'session')} the agent ran tools without calling the hook.`,
        'Check what these sessions did. The hook was removed, not trusted, late, or installed for some tools only; see the failures above.',
      ),
    );
  if (uncertain > 0)
    checks.push(
      buildWarningCheck(
        'sessions.seen',
        subject,
        `In ${formatCount(uncertain, 'session')} tools ran without the hook, but it is not documented whether the agent calls hooks for them.`,
        null,
      ),
    );
  if (before > 0)
    checks.push(
      buildWarningCheck(
        'sessions.seen',
        subject,
        `In ${formatCount(before, 'session')} tools ran before the hook was installed.`,
        null,
      ),
    );
  if (checks.length === 0)
    checks.push(
      buildPassedCheck(
        'sessions.seen',
        subject,
        sessionCount === 0
          ? 'There are no transcripts of that time.'
          : `The hook was called for every tool that ran in ${formatCount(sessionCount, 'session')} up to a minute ago.`,
      ),
    );
  return checks;
}

function warnIncomplete(
  skippedCount: number,
  audited: AuditedCalls,
  subject: CheckSubject,
): readonly DoctorCheck[] {
  const checks: DoctorCheck[] = [];
  if (skippedCount > 0)
    checks.push(
      buildWarningCheck(
        'sessions.read',
        subject,
        `${formatCount(skippedCount, 'part')} of transcripts could not be read, or are too long.`,
        null,
      ),
    );
  if (audited.is_partial)
    checks.push(
      buildWarningCheck(
        'sessions.read',
        subject,
        'Only the newest events of the audit log were read.',
        'Use a shorter --since.',
      ),
    );
  return checks;
}
