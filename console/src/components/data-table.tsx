import {
  type ColumnDef,
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  sortFn_basic,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Badge } from './badge.tsx';
import { type DataColumn, readCell } from './data-column.ts';
import { ErrorNote } from './error-note.tsx';
import { useAddressQuery } from './filter-chips.tsx';
import { revealHidden, SafeText } from './safe-text.tsx';
import { formatCount, formatNumber } from './stat-tile.tsx';
import { TableMenu, useHiddenColumns } from './table-menu.tsx';
import { Time } from './time.tsx';

interface DataTableProps<Row extends object> {
  /** The name of exported files, and of the stored choice of columns. */
  readonly name: string;
  /** The accessible name of the table. */
  readonly label: string;
  readonly columns: readonly DataColumn<Row>[];
  /** `undefined` while they are read. */
  readonly rows: readonly Row[] | undefined;
  /** Shown above the table, if the rows could not be read. */
  readonly error?: unknown;
  readonly rowKey: (row: Row) => string;
  /** Opens a row: on a click, or on Enter. */
  readonly onOpen?: (row: Row) => void;
  /** Called near the last row, to read more. */
  readonly onEnd?: () => void;
  /** Shown if there are no rows. */
  readonly empty: ReactNode;
  /** Stands at the left above the table: filters. */
  readonly children?: ReactNode;
  /** True if there are more rows than those that were read. */
  readonly has_more?: boolean;
  /** True: filters of the page narrow the rows, so the table has no field that finds among them. */
  readonly has_filters?: boolean;
  /** True: the table fills the height that is left, and scrolls alone. */
  readonly is_tall?: boolean;
}

const features = tableFeatures({
  rowSortingFeature,
  columnVisibilityFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { basic: sortFn_basic },
});
/** The number of rows from which a table has a field to find some. */
const FIND_ROWS_MIN = 6;
const FIND_TEXT_MAX = 256;
const TITLE_CHARS_MIN = 12;
const ROW_PX = 36;
const NEAR_END_ROWS = 20;
const NO_ROWS: readonly never[] = [];

/**
 * A table that sorts, finds, hides columns, exports, and shows 100,000 rows as fast as ten. Order and search are in the
 * address: `sort=-time`, `find_agents=bot`.
 */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { name, columns, rows = NO_ROWS, rowKey, error = null, has_more = false } = props;
  const [query, change] = useAddressQuery();
  const [hidden, setHidden] = useHiddenColumns(name, columns);
  const definitions = useMemo(() => columns.map(buildDefinition), [columns]);
  const sort = query.sort ?? '';
  const findName = `find_${name}`;
  const wanted = props.has_filters === true ? '' : (query[findName] ?? '');
  const found = useMemo(() => findRows(columns, rows, wanted), [columns, rows, wanted]);
  const table = useTable({
    features,
    columns: definitions,
    data: found as Row[],
    getRowId: (row: Row) => rowKey(row),
    state: {
      sorting: sort === '' ? [] : [{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }],
      columnVisibility: Object.fromEntries(columns.map(({ id }) => [id, !hidden.includes(id)])),
    },
  });
  const sorted = table.getRowModel().rows.map((row) => row.original);
  const visible = columns.filter(({ id }) => !hidden.includes(id));
  return (
    <div className={props.is_tall === true ? 'table-block tall' : 'table-block'}>
      <ErrorNote error={error} />
      <div className="table-bar">
        {props.children}
        {props.has_filters !== true && (rows.length >= FIND_ROWS_MIN || wanted !== '') ? (
          <input
            className="input small"
            type="search"
            aria-label={`Find in ${props.label}`}
            placeholder="Find …"
            maxLength={FIND_TEXT_MAX}
            value={wanted}
            onChange={(event) => change({ [findName]: event.currentTarget.value })}
          />
        ) : null}
        {rows.length === 0 ? null : (
          <>
            <span className="table-count" role="status">
              {describeCount(found.length, rows.length, has_more)}
            </span>
            <TableMenu name={name} columns={columns} rows={sorted} hidden={hidden} onHide={setHidden} />
          </>
        )}
      </div>
      {props.rows === undefined ? (
        error === null && <p className="muted">Loading …</p>
      ) : rows.length === 0 ? (
        props.empty
      ) : found.length === 0 ? (
        <p className="muted">No row has this text.</p>
      ) : (
        <TableBody
          {...props}
          columns={visible}
          rows={sorted}
          sort={sort}
          onSort={(next) => change({ sort: next })}
        />
      )}
    </div>
  );
}

/** Returns the rows whose values hold every word of a text, in upper or lower case. */
function findRows<Row>(
  columns: readonly DataColumn<Row>[],
  rows: readonly Row[],
  text: string,
): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const values = columns.map((column) => String(readCell(column, row) ?? '').toLowerCase());
    return words.every((word) => values.some((value) => value.includes(word)));
  });
}

function describeCount(found: number, all: number, hasMore: boolean): string {
  if (found < all) return `${formatCount(found)} of ${formatNumber(all, 'row', 'rows')}`;
  return hasMore ? `newest ${formatCount(all)} rows, scroll for more` : formatNumber(all, 'row', 'rows');
}

function buildDefinition<Row extends object>(column: DataColumn<Row>): ColumnDef<typeof features, Row> {
  return {
    id: column.id,
    header: column.title,
    accessorFn: (row: Row) => readCell(column, row) ?? '',
    sortFn: 'basic',
  } as ColumnDef<typeof features, Row>;
}

interface TableBodyProps<Row extends object> extends DataTableProps<Row> {
  readonly rows: readonly Row[];
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}

function TableBody<Row extends object>({
  columns,
  rows,
  rowKey,
  label,
  onOpen,
  onEnd,
  sort,
  onSort,
}: TableBodyProps<Row>) {
  const scroller = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const items = virtualizer.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  const { current, onKeyDown, onFocusRow } = useRowKeys(rows.length, scroller, (index) =>
    virtualizer.scrollToIndex(index),
  );
  useEffect(() => {
    if (last !== undefined && last.index > rows.length - NEAR_END_ROWS) onEnd?.();
  }, [last, rows.length, onEnd]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard.
    <section className="table-scroll" ref={scroller} aria-label={label} tabIndex={0}>
      <table className="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <colgroup>
          {columns.map((column) => (
            <col
              key={column.id}
              className={column.is_wide_only === true ? 'wide-only' : undefined}
              style={{ width: column.width ?? 140 }}
            />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map((column) => (
              <HeaderCell key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={onKeyDown}>
          <Spacer height={first?.start ?? 0} columns={columns.length} />
          {items.map(({ index }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <tr
                key={rowKey(row)}
                data-index={index}
                aria-rowindex={index + 2}
                tabIndex={onOpen !== undefined && index === current ? 0 : -1}
                className={onOpen === undefined ? undefined : 'opens'}
                onFocus={() => onFocusRow(index)}
                onClick={(event) => {
                  if (!isControl(event.target)) onOpen?.(row);
                }}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && event.target === event.currentTarget) onOpen?.(row);
                }}
              >
                {columns.map((column) => (
                  <td key={column.id} className={buildCellClass(column)} title={getCellTitle(column, row)}>
                    <Cell column={column} row={row} />
                  </td>
                ))}
              </tr>
            );
          })}
          <Spacer
            height={last === undefined ? 0 : virtualizer.getTotalSize() - last.end}
            columns={columns.length}
          />
        </tbody>
      </table>
    </section>
  );
}

/** Shows a cell's value. Text may come from outside, so it goes through `SafeText`. */
function Cell<Row>({ column, row }: { readonly column: DataColumn<Row>; readonly row: Row }) {
  if (column.render !== undefined) return column.render(row);
  const value = readCell(column, row);
  if (typeof value === 'number') return value;
  if (column.form === 'time') return <Time at={value} />;
  return column.form === 'badge' ? <Badge value={value} /> : <SafeText text={value} />;
}

/** Moves the focus among rows: arrows, Page Up and Down, Home, End. One row is in the order of the Tab key. */
function useRowKeys(
  count: number,
  scroller: RefObject<HTMLElement | null>,
  scrollTo: (index: number) => void,
) {
  const [current, setCurrent] = useState(0);
  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      PageDown: current + 10,
      PageUp: current - 10,
      Home: 0,
      End: count - 1,
    };
    const wanted = steps[event.key];
    if (wanted === undefined || !(event.target instanceof HTMLTableRowElement)) return;
    event.preventDefault();
    const index = Math.max(0, Math.min(count - 1, wanted));
    setCurrent(index);
    scrollTo(index);
    requestAnimationFrame(() =>
      scroller.current
        ?.querySelector<HTMLElement>(`tr[data-index="${index}"]`)
        ?.focus({ preventScroll: true }),
    );
  }
  return { current: Math.min(current, Math.max(0, count - 1)), onKeyDown, onFocusRow: setCurrent };
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button, input, select, label, summary') !== null;
}

function Spacer({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null;
  return (
    <tr className="spacer">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}

interface HeaderCellProps<Row> {
  readonly column: DataColumn<Row>;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}

function HeaderCell<Row>({ column, sort, onSort }: HeaderCellProps<Row>) {
  const isUp = sort === column.id;
  const isDown = sort === `-${column.id}`;
  // A first click sorts figures with the largest first, text from A on; a third click gives the order of the service back.
  const cycle =
    column.is_number === true ? [`-${column.id}`, column.id, ''] : [column.id, `-${column.id}`, ''];
  const next = cycle[cycle.indexOf(sort) + 1] ?? cycle[0] ?? '';
  return (
    <th
      scope="col"
      className={buildCellClass(column)}
      aria-sort={isUp ? 'ascending' : isDown ? 'descending' : undefined}
    >
      <button type="button" className="sort" onClick={() => onSort(next)}>
        {column.title}
        <span aria-hidden="true">{isUp ? ' ↑' : isDown ? ' ↓' : ''}</span>
      </button>
    </th>
  );
}

/** Returns the whole text of a cell, which may be cut. */
function getCellTitle<Row>(column: DataColumn<Row>, row: Row): string | undefined {
  const value = readCell(column, row);
  return typeof value === 'string' && value.length > TITLE_CHARS_MIN ? revealHidden(value) : undefined;
}

function buildCellClass<Row>({ is_number = false, is_wide_only = false }: DataColumn<Row>): string {
  return `${is_number ? 'number' : ''} ${is_wide_only ? 'wide-only' : ''}`.trim();
}
