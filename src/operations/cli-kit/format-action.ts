import { splitShownAction } from '../../core/decision/shown-action.ts';
import type { ActionMarks } from '../../runtime/audit/types.ts';
import { escapeControls, paintText, type Terminal } from './terminal.ts';

/** Formats a call as people see it on one line, its dangerous parts in red. */
export function formatAction(text: string, marks: ActionMarks, terminal: Terminal): string {
  return splitShownAction({ text, marks })
    .map((part) => {
      const shown = escapeControls(part.text);
      return part.is_dangerous ? paintText(terminal, ['bold', 'red'], shown) : shown;
    })
    .join('');
}
