import { count, text, time } from '../../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../../platform/store/define-table.ts';

declare module '../../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof totalTables> {}
}

/** The sums and counts that conditions read. */
const totals = defineTable(
  'totals',
  {
    tenant_id: text({ key: true }),
    /** SHA-256 of the total, and of the user, agent or session whose calls it adds. */
    total_hash: text({ key: true }),
    /** Rises with every change. A new row begins with a random number, so that no copy of an earlier row matches. */
    version: count(),
    /** See `time-spans.ts`. */
    spans: text(),
    expires_ms: time(),
  },
  { indexes: { totals_expires: ['expires_ms'] } },
);

const totalTables = [totals] as const;

export const totalMigrations = createTables('totals', totalTables);
