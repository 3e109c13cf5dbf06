import type { AdvisorResult } from '../../../core/advisors/types.ts';
import {
  escapeControls,
  escapeControlsInLines,
  paintText,
  printLine,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { ProposalEffect, ReviewedProposal } from '../check-artifacts.ts';

interface Review {
  readonly together: ProposalEffect | null;
  readonly files: readonly ReviewedProposal[];
}

/** Returns the review of a result; `null` if it has none. */
export function readReview({ metadata }: AdvisorResult): Review | null {
  return (metadata.review as Review | undefined) ?? null;
}

/** Returns whether a proposal weakens the policy. */
export function isWeakening(result: AdvisorResult): boolean {
  return readReview(result)?.together?.weakens === true;
}

/**
 * Prints the text of the model and the effect of its files. Text of a model is escaped, and each of its lines is
 * marked, so that it cannot look like a line of this program.
 */
export function printAdvice(result: AdvisorResult, terminal: Terminal): void {
  printLine(terminal, `${escapeControls(result.model_used)} writes:`);
  for (const line of escapeControlsInLines(result.summary).split('\n'))
    printLine(terminal, `| ${line}`.trimEnd());
  for (const [path, state] of Object.entries((result.metadata.syntax ?? {}) as Record<string, string>))
    if (state !== 'parsed')
      printLine(
        terminal,
        paintText(terminal, 'yellow', `\n${escapeControls(path)}: syntax ${escapeControls(state)}`),
      );
  const review = readReview(result);
  if (review?.together) {
    printLine(terminal);
    printLine(terminal, paintText(terminal, 'bold', 'Effect on the policy'));
    printEffect(review.together, terminal);
  }
  for (const file of review?.files ?? []) {
    printLine(terminal);
    printLine(terminal, paintText(terminal, 'bold', `${file.path} alone`));
    printEffect(file, terminal);
  }
}

function printEffect(effect: ProposalEffect, terminal: Terminal): void {
  for (const line of effect.changes) printLine(terminal, `  ${escapeControls(line)}`);
  if (effect.changes.length === 0) printLine(terminal, '  none');
  const { replay } = effect;
  if (replay !== null)
    printLine(
      terminal,
      `  replay of ${replay.since}: ${replay.same} the same, ${replay.stricter} stricter, ${replay.less_strict} less strict, ${replay.unknown} unknown`,
    );
  printControlChanges(effect, terminal);
  if (effect.weakens) {
    printLine(terminal, paintText(terminal, 'yellow', '  WEAKENS THE POLICY. It would allow:'));
    for (const line of effect.lets_through)
      printLine(terminal, paintText(terminal, 'yellow', `    ${escapeControls(line)}`));
  }
  for (const line of effect.remarks) printLine(terminal, `  ${escapeControls(line)}`);
}

function printControlChanges({ control_changes }: ProposalEffect, terminal: Terminal): void {
  if (control_changes === null) return;
  if (control_changes.length === 0) printLine(terminal, '  no control of the compliance report changes');
  for (const { control_id, from, to, missing_before, missing_after } of control_changes) {
    printLine(terminal, `  control ${control_id}: ${from} -> ${to}`);
    for (const each of missing_before.filter((sentence) => !missing_after.includes(sentence)))
      printLine(terminal, `    - ${escapeControls(each)}`);
    for (const each of missing_after.filter((sentence) => !missing_before.includes(sentence)))
      printLine(terminal, `    + ${escapeControls(each)}`);
  }
}
