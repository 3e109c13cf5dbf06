import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import { type DataColumn, readCell } from './data-column.ts';
import { saveFile } from './save-file.ts';
import { formatNumber } from './stat-tile.tsx';

interface ExportedRows<Row> {
  /** The name of the file. */
  readonly name: string;
  readonly columns: readonly DataColumn<Row>[];
  readonly rows: readonly Row[];
}

interface TableMenuProps<Row> extends ExportedRows<Row> {
  readonly hidden: readonly string[];
  readonly onHide: (hidden: readonly string[]) => void;
}

/** Exports rows that are shown in another form than a table. */
export function ExportMenu<Row>({ name, columns, rows }: ExportedRows<Row>) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className="button quiet small">Export</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
          <ExportItems name={name} columns={columns} rows={rows} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** Chooses the columns of a table and exports its rows. */
export function TableMenu<Row>({ name, columns, rows, hidden, onHide }: TableMenuProps<Row>) {
  const toggle = (id: string) =>
    onHide(hidden.includes(id) ? hidden.filter((each) => each !== id) : [...hidden, id]);
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className="button quiet small">Columns and export</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
          <DropdownMenu.Label className="menu-label">Columns</DropdownMenu.Label>
          {columns.map(({ id, title }) => (
            <DropdownMenu.CheckboxItem
              key={id}
              className="menu-item"
              checked={!hidden.includes(id)}
              disabled={!hidden.includes(id) && hidden.length === columns.length - 1}
              onCheckedChange={() => toggle(id)}
              onSelect={(event) => event.preventDefault()}
            >
              <span className="menu-check" aria-hidden="true">
                {hidden.includes(id) ? '' : '✓'}
              </span>
              {title}
            </DropdownMenu.CheckboxItem>
          ))}
          <DropdownMenu.Separator className="menu-line" />
          <ExportItems name={name} columns={columns} rows={rows} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function ExportItems<Row>({ name, columns, rows }: ExportedRows<Row>) {
  const count = formatNumber(rows.length, 'row', 'rows');
  return (
    <>
      <DropdownMenu.Item
        className="menu-item"
        onSelect={() => saveFile(`${name}.csv`, 'text/csv', toCsv(columns, rows))}
      >
        Export {count} as CSV
      </DropdownMenu.Item>
      <DropdownMenu.Item
        className="menu-item"
        onSelect={() => saveFile(`${name}.json`, 'application/json', JSON.stringify(rows, null, 2))}
      >
        Export {count} as JSON
      </DropdownMenu.Item>
    </>
  );
}

/** Returns the hidden columns of a table. The browser remembers them by the name of the table. */
export function useHiddenColumns<Row>(
  name: string,
  columns: readonly DataColumn<Row>[],
): readonly [readonly string[], (hidden: readonly string[]) => void] {
  const key = `console-columns-${name}`;
  const [hidden, setHidden] = useState<readonly string[]>(
    () => readHidden(key) ?? listHiddenByDefault(columns),
  );
  return [
    hidden.filter((id) => columns.some((column) => column.id === id)),
    (next) => {
      localStorage.setItem(key, JSON.stringify(next));
      setHidden(next);
    },
  ];
}

function listHiddenByDefault<Row>(columns: readonly DataColumn<Row>[]): string[] {
  return columns.filter(({ is_extra }) => is_extra === true).map(({ id }) => id);
}

function readHidden(key: string): readonly string[] | null {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    return Array.isArray(stored) ? stored.filter((id): id is string => typeof id === 'string') : null;
  } catch {
    return null;
  }
}

/** Writes rows as CSV (RFC 4180). A cell that a spreadsheet would evaluate as a formula gets an apostrophe first. */
export function toCsv<Row>(columns: readonly DataColumn<Row>[], rows: readonly Row[]): string {
  const lines = [
    columns.map(({ id }) => formatCsvCell(id)),
    ...rows.map((row) => columns.map((column) => formatCsvCell(readCell(column, row)))),
  ];
  return `${lines.map((line) => line.join(',')).join('\r\n')}\r\n`;
}

function formatCsvCell(value: string | number | null | undefined): string {
  if (typeof value === 'number') return String(value);
  const text = value ?? '';
  const safe = /^(?:\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|[\t\r\n])/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
