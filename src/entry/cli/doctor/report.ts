import { codingAgentRecords } from '../../../coding-agents/index.ts';
import type { CheckStatus, DoctorCheck } from '../../../coding-agents/record/doctor-check.ts';
import { formatCount, formatTable } from '../../../operations/cli-kit/format-table.ts';
import {
  escapeControls,
  paintText,
  printLine,
  replaceProgramName,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { Diagnosis } from './diagnose.ts';

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;
const SESSIONS_SHOWN_MAX = 20;
const TOOLS_SHOWN_MAX = 5;

/** Prints a diagnosis for a user: checks grouped by file, with the next step after each problem. */
export function printDiagnosis(diagnosis: Diagnosis, terminal: Terminal): void {
  let heading: string | null = null;
  for (const check of diagnosis.checks) {
    const next = formatHeading(check);
    if (next !== heading)
      printLine(
        terminal,
        `${heading === null ? '' : '\n'}${paintText(terminal, 'bold', escapeControls(next))}`,
      );
    heading = next;
    printCheck(check, terminal);
  }
  printSessions(diagnosis, terminal);
  printLine(terminal);
  printLine(terminal, formatSummary(diagnosis, terminal));
}

function formatHeading({ coding_agent, scope, file, name }: DoctorCheck): string {
  if (name === 'program') return 'Program';
  if (coding_agent === null) return file === null ? 'Configuration' : `Configuration ${file}`;
  const label = codingAgentRecords.find((each) => each.name === coding_agent)?.label ?? coding_agent;
  if (name.startsWith('sessions.')) return `Sessions of ${label}`;
  return file === null ? label : `${label}, ${file} (${scope})`;
}

function printCheck({ status, event, message, next }: DoctorCheck, terminal: Terminal): void {
  const word = paintText(terminal, COLOURS[status], status.padEnd(4));
  const what = event === null ? '' : `${event}: `;
  printLine(terminal, `  ${word}  ${escapeControls(replaceProgramName(terminal, `${what}${message}`))}`);
  if (next !== null) printLine(terminal, `        ${escapeControls(replaceProgramName(terminal, next))}`);
}

function printSessions({ sessions }: Diagnosis, terminal: Terminal): void {
  if (sessions.length === 0) return;
  printLine(terminal);
  const rows = sessions
    .slice(0, SESSIONS_SHOWN_MAX)
    .map(({ coding_agent, session_id, last, unseen, kind }) => [
      coding_agent,
      session_id,
      last ?? 'unknown',
      kind.replace('_', ' '),
      formatTools(unseen),
    ]);
  for (const line of formatTable(['HOST', 'SESSION', 'LAST', 'KIND', 'TOOLS'], rows))
    printLine(terminal, line);
  const more = sessions.length - rows.length;
  if (more > 0) printLine(terminal, `and ${more} more: --json has all`);
}

function formatTools(unseen: readonly { readonly tool: string; readonly count: number }[]): string {
  const named = unseen.slice(0, TOOLS_SHOWN_MAX).map(({ tool, count }) => `${tool} ${count}`);
  const more = unseen.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

function formatSummary(
  { checks, status, tried_count, blocking_count }: Diagnosis,
  terminal: Terminal,
): string {
  const countOf = (wanted: CheckStatus) => checks.filter((check) => check.status === wanted).length;
  const hooks =
    tried_count === 0
      ? 'No hook was tested'
      : `${formatCount(tried_count, 'hook')} tested, ${blocking_count} ${blocking_count === 1 ? 'blocks' : 'block'}`;
  const line = `${hooks}; ${formatCount(countOf('fail'), 'failure')}, ${formatCount(countOf('warn'), 'warning')}.`;
  return paintText(terminal, COLOURS[status], line);
}
