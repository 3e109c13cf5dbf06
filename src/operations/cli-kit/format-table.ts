import { escapeControls } from './terminal.ts';

const COLUMN_CHARACTERS_MAX = 60;

/**
 * Lays rows out in columns, two spaces apart. The last column is not padded. Control characters in cells are escaped,
 * and a cell that could pass for several has quotes.
 */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = [head, ...rows].map((row) => row.map(formatCell));
  const widths = head.map((_, column) =>
    Math.min(COLUMN_CHARACTERS_MAX, Math.max(...cells.map((row) => (row[column] ?? '').length))),
  );
  return cells.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}

/** Columns are two spaces apart, so a cell with such a gap, or with a blank at an end, would forge columns. */
function formatCell(cell: string): string {
  const text = escapeControls(cell);
  return /^["\p{Zs}]|\p{Zs}$|\p{Zs}{2}/u.test(text) ? `"${text.replaceAll('"', '\\"')}"` : text;
}

/** Formats a count: `1 rule`, `2 rules`, `1 identity`, `2 identities`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
