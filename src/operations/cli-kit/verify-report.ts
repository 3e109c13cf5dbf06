import type { VerifyReport } from '../../runtime/audit/index.ts';
import type { RetiredReport } from '../../runtime/audit/verify-report.ts';
import { EXIT } from './command-failure.ts';
import { formatCount } from './format-table.ts';
import { escapeControls, paintText, printLine, printNotice, type Terminal } from './terminal.ts';

/** Prints the report on a log for people, and sets the exit code: 1 if it is broken, 3 if a public key is missing. */
export function printVerifyReport(report: VerifyReport, terminal: Terminal): void {
  setVerifyExit(report, terminal);
  printReport(report, terminal);
}

/** Sets the exit code of a report. A broken log outranks an unknown one. */
export function setVerifyExit({ intact, broken }: VerifyReport, terminal: Terminal): void {
  if (intact || terminal.exit_code === EXIT.no) return;
  terminal.exit_code = broken === null ? EXIT.unknown : EXIT.no;
}

function printReport(report: VerifyReport, terminal: Terminal): void {
  for (const warning of report.warnings) printNotice(terminal, `warning: ${escapeControls(warning)}`);
  if (report.broken !== null) {
    const { writer, file, line, seq, reason } = report.broken;
    const place = `${file ?? writer}${line === null ? '' : `, line ${line}`}`;
    printLine(
      terminal,
      `${paintText(terminal, ['bold', 'red'], 'broken')}  ${escapeControls(place)} (record ${seq}): ${escapeControls(reason)}`,
    );
    return;
  }
  if (report.missing_keys.length > 0) {
    const what = report.missing_keys.map((keyId) => `\`${keyId}.json\``).join(', ');
    printLine(
      terminal,
      `${paintText(terminal, ['bold', 'yellow'], 'unknown')}  The log cannot be verified without ${what}. Put the public key back, or name its folder with --keys.`,
    );
    return;
  }
  const total = report.writers.reduce((sum, { events }) => sum + events, 0);
  printLine(terminal, `${paintText(terminal, ['bold', 'green'], 'intact')}  ${formatCount(total, 'event')}`);
  for (const writer of report.writers) {
    const { records, segments, checkpoints, unsigned_tail, cuts, erased_actions } = writer;
    const { retired } = writer;
    const parts = [
      formatCount(records, 'record'),
      `in ${formatCount(segments, 'file')}`,
      formatCount(checkpoints, 'signed checkpoint'),
      `${unsigned_tail} since the last`,
    ];
    if (erased_actions > 0) parts.push(`${formatCount(erased_actions, 'shown action')} erased`);
    if (cuts > 0) parts.push(`${formatCount(cuts, 'torn line')} cut`);
    printLine(terminal, `  ${escapeControls(writer.writer)}: ${parts.join(', ')}`);
    if (retired !== null) printLine(terminal, `    ${escapeControls(describeRetired(retired))}`);
  }
}

function describeRetired({ last_seq, timestamp, event_id }: RetiredReport): string {
  const by = event_id === null ? '; no audit event records it' : `, recorded by ${event_id}`;
  return `records 1 to ${last_seq} were deleted by age at ${timestamp}${by}`;
}
