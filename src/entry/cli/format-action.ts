import type { ActionMarks } from '../../runtime/audit/types.ts';
import { escapeControls, paintText, type Terminal } from './terminal.ts';

/** Formats a call as people see it on one line, its dangerous parts in red. */
export function formatAction(shown: string, marks: ActionMarks, terminal: Terminal): string {
  let at = 0;
  const parts: string[] = [];
  for (const [start, end] of marks) {
    parts.push(escapeControls(shown.slice(at, start)));
    parts.push(paintText(terminal, ['bold', 'red'], escapeControls(shown.slice(start, end))));
    at = end;
  }
  return `${parts.join('')}${escapeControls(shown.slice(at))}`;
}
