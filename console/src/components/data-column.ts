import type { ReactNode } from 'react';

/** A column of a data table. */
export interface DataColumn<Row> {
  readonly id: string;
  readonly title: string;
  /** The value that sorts and is exported. */
  readonly value: (row: Row) => string | number | null | undefined;
  /** The cell, if it is more than the value as text. Text from outside goes through `SafeText`. */
  readonly render?: (row: Row) => ReactNode;
  /** Width in pixels; the columns share what is left in these proportions. Default 140. */
  readonly width?: number;
  readonly is_number?: boolean;
  /** Hidden until it is chosen. */
  readonly is_extra?: boolean;
  /** Absent on a narrow screen. */
  readonly is_wide_only?: boolean;
}
