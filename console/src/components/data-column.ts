import type { ReactNode } from 'react';

type CellValue = string | number | null | undefined;

/** The members of a row that a column can show as they are. */
type CellMember<Row> = {
  [Name in keyof Row & string]-?: Row[Name] extends CellValue ? Name : never;
}[keyof Row & string];

interface ColumnParts<Row> {
  readonly title: string;
  /** A badge, or a moment in the zone of the viewer. Without it, the cell is the value as text. */
  readonly form?: 'badge' | 'time';
  /** The cell, if it is more than its value in a form. Text from outside goes through `SafeText`. */
  readonly render?: (row: Row) => ReactNode;
  /** Width in pixels; the columns share what is left in these proportions. Default 140. */
  readonly width?: number;
  readonly is_number?: boolean;
  /** Hidden until it is chosen. */
  readonly is_extra?: boolean;
  /** Absent on a narrow screen. */
  readonly is_wide_only?: boolean;
}

/** A column of a data table. It shows, sorts and exports the member of a row that is its ID, or a value of its own. */
export type DataColumn<Row> = ColumnParts<Row> &
  (
    | { readonly id: CellMember<Row>; readonly value?: undefined }
    | { readonly id: string; readonly value: (row: Row) => CellValue }
  );

/** Returns the value of a cell. */
export function readCell<Row>(column: DataColumn<Row>, row: Row): CellValue {
  if (column.value !== undefined) return column.value(row);
  const member: keyof Row = column.id;
  return row[member] as CellValue;
}
