import { codingAgents } from '../../../coding-agents/coding-agents.ts';
import { formatAction } from '../../../operations/cli-kit/format-action.ts';
import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import {
  escapeControls,
  paintText,
  printLine,
  replaceProgramName,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import { isAsked, type PastDecision, type PastReport, REPLAY_MS_MAX } from './judge-past-calls.ts';

/** Decisions that the list shows at most; the JSON output has all. */
const SHOWN_MAX = 50;

/** Prints one sentence on the past calls, and what it does not cover. */
export function printPastSummary(report: PastReport, terminal: Terminal): void {
  const { calls, stopped, asked, changed, skipped, limit } = report;
  if (calls === 0) {
    const labels = codingAgents.filter(({ transcript }) => transcript !== null).map(({ label }) => label);
    printLine(terminal, `This machine has no calls in transcripts of ${labels.join(', ')}.`);
  } else {
    const more = changed === 0 ? '' : `, and ${changed.toLocaleString('en')} changed`;
    printLine(
      terminal,
      paintText(
        terminal,
        'bold',
        `Of your last ${calls.toLocaleString('en')} ${calls === 1 ? 'call' : 'calls'} ${stopped.toLocaleString('en')} would have been stopped and ${asked.toLocaleString('en')} asked${more}.`,
      ),
    );
  }
  if (limit === 'calls') printLine(terminal, 'Older calls were not judged.');
  if (limit === 'time')
    printLine(terminal, `Calls that were not reached within ${REPLAY_MS_MAX / 1_000} s were not judged.`);
  if (skipped > 0)
    printLine(terminal, `${formatCount(skipped, 'line or file', 'lines or files')} could not be read.`);
}

/** Prints the calls that would not have passed unchanged, newest first, each with the command that allows it. */
export function printPastDecisions({ decisions }: PastReport, terminal: Terminal): void {
  for (const each of decisions.slice(0, SHOWN_MAX)) printDecision(each, terminal);
  const rest = decisions.length - SHOWN_MAX;
  if (rest > 0) printLine(terminal, `\nand ${rest.toLocaleString('en')} more (--json)`);
}

function printDecision(decided: PastDecision, terminal: Terminal): void {
  const { coding_agent, at, tool, decision, rule, reason, action_shown, action_marks, allow } = decided;
  const [word, colour] = isAsked(decided)
    ? (['asked', 'yellow'] as const)
    : decision === 'modify'
      ? (['changed', 'yellow'] as const)
      : (['stopped', 'red'] as const);
  const head = [at, coding_agent, `rule=${escapeControls(rule)}`].filter((part) => part !== null).join(' ');
  const shown =
    action_shown === null
      ? `${escapeControls(tool)} (arguments hidden)`
      : formatAction(action_shown, action_marks, terminal);
  printLine(terminal, `\n${paintText(terminal, colour, word.padEnd(7))} ${head}`);
  printLine(terminal, `    ${shown}`);
  printLine(terminal, `    ${replaceProgramName(terminal, escapeControls(reason))}`);
  // A dangerous command's reason names the first.
  for (const command of allow.filter((each) => !reason.includes(each)))
    printLine(terminal, replaceProgramName(terminal, `    allow: \`${escapeControls(command)}\``));
}
