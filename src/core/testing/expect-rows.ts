/** Returns a table's rows. Throws if there are more or fewer than expected: a loop over no rows proves nothing. */
export function expectRows<Row>(count: number, rows: Iterable<Row>): readonly Row[] {
  const list = [...rows];
  if (list.length !== count) throw new Error(`expected ${count} rows, not ${list.length}`);
  return list;
}
