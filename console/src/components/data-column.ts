import type { ReactNode } from 'react';

type CellValue = string | number | null | undefined;

/** The row members that a column can show as they are. */
type CellMember<Row> = {
  [Name in keyof Row & string]-?: Row[Name] extends CellValue ? Name : never;
}[keyof Row & string];

interface ColumnParts<Row> {
  readonly title: string;
  /** A badge, or a moment in the viewer's time zone. Without it, the cell shows the value as text. */
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

/** A column of a data table. It shows, sorts and exports the row member that its ID names, or a computed value. */
export type DataColumn<Row> = ColumnParts<Row> &
  (
    | { readonly id: CellMember<Row>; readonly value?: undefined }
    | { readonly id: string; readonly value: (row: Row) => CellValue }
  );

/** Returns a cell's value. */
export function readCell<Row>(column: DataColumn<Row>, row: Row): CellValue {
  if (column.value !== undefined) return column.value(row);
  const member: keyof Row = column.id;
  return row[member] as CellValue;
}
