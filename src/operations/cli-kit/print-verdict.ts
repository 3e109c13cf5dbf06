import type { ViolationReply } from '../../core/decision/violation-reply.ts';
import type { VerdictReply } from '../reply.ts';
import { escapeControls, paintText, printLine, type Terminal } from './terminal.ts';

const COLOURS = { allow: 'green', modify: 'yellow', block: 'red' } as const;

/** Prints a decision with its rule, reason and findings, without the text that was judged. */
export function printVerdict(reply: VerdictReply, terminal: Terminal): void {
  const decision = paintText(terminal, ['bold', COLOURS[reply.decision]], reply.decision);
  printLine(terminal, `${decision}  ${escapeControls(reply.reason)}`);
  printLine(terminal, `rule   ${escapeControls(reply.rule)} (${reply.action})`);
  for (const violation of reply.violations) printLine(terminal, `found  ${formatViolation(violation)}`);
  if (reply.coverage === 'partial') printLine(terminal, 'only a part was scanned');
  printLine(terminal, `event  ${reply.event_id}`);
}

/**
 * Formats a finding with its location, but without the matched text, which must not appear in scroll-back and build
 * logs.
 */
function formatViolation({
  severity,
  detector,
  rule_id,
  tag,
  start,
  end,
  path,
  reason,
}: ViolationReply): string {
  const exact = rule_id === undefined || rule_id === detector ? '' : ` (${rule_id})`;
  const place = start === undefined ? '' : ` at ${start}-${end}`;
  const parts = [`${severity} ${detector}${exact}${place}`, path && `in ${path}`, tag, reason];
  return escapeControls(parts.filter((part) => part).join(', '));
}
