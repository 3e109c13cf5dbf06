import { count, flag, integer, nullable, text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof costTables> {}
}

/** The usage of a budget in one period, or in one step of a rolling period. */
const budgetWindows = defineTable(
  'budget_windows',
  {
    /** A hash of the budget's name, its period, its scope and the start of the row. */
    row_id: text({ key: true }),
    budget: text(),
    /** The dimensions of the budget and their values, as JSON. */
    scope: text(),
    period: text(),
    /** Empty unless the budget counts each tenant separately. */
    tenant_id: text(),
    starts_ms: time(),
    /** The time from which the row no longer counts; `null` means never. */
    ends_ms: nullable(time()),
    spent_micro_usd: count(),
    spent_tokens: count(),
    reserved_micro_usd: count(),
    reserved_tokens: count(),
    /** The highest reported threshold: 0 none, 1 nearly used up, 2 used up. */
    reported_level: integer(),
    changed_ms: time(),
  },
  { indexes: { budget_windows_ends: ['ends_ms'], budget_windows_budget: ['budget', 'starts_ms'] } },
);

/** The reservation of one call. */
const budgetReservations = defineTable(
  'budget_reservations',
  {
    reservation_id: text({ key: true }),
    /** `[row_id, micro_usd, tokens]` of each budget, as JSON. */
    parts: text(),
    /** The spending row that is recorded if the reservation expires unsettled, as JSON. */
    estimate: text(),
    expires_ms: time(),
    /** The reservation expired unsettled, and its estimate was charged. */
    is_charged: flag(),
  },
  { indexes: { budget_reservations_expires: ['is_charged', 'expires_ms'] } },
);

/** Spending by day. Dollars are in whole millionths, here and above. */
const spending = defineTable(
  'spending',
  {
    row_id: text({ key: true }),
    day: text(),
    tenant_id: text(),
    agent_id: text(),
    user_id: text(),
    model: text(),
    provider: text(),
    calls: count(),
    input_tokens: count(),
    output_tokens: count(),
    cache_read_tokens: count(),
    cache_write_tokens: count(),
    micro_usd: count(),
    estimated_calls: count(),
    assumed_calls: count(),
  },
  { indexes: { spending_day: ['day', 'tenant_id'] } },
);

const costTables = [budgetReservations, budgetWindows, spending] as const;

export const costMigrations = createTables('costs', costTables);
