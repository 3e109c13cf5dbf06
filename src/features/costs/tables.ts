import type { Migration } from 'kysely/migration';
import type { SpendingFigures, SpendingKey } from './types.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends CostTables {}
}

/** The tables of budgets and spending. Times are milliseconds since 1970, UTC; dollars are in whole millionths. */
export interface CostTables {
  /** The usage of a budget in one period, or in one step of a rolling period. */
  readonly budget_windows: {
    /** A hash of the budget's name, its period, its scope and the start of the row. */
    row_id: string;
    budget: string;
    /** The dimensions of the budget and their values, as JSON. */
    scope: string;
    period: string;
    /** Empty unless the budget counts each tenant separately. */
    tenant_id: string;
    starts_ms: number;
    /** The time from which the row no longer counts; `null` means never. */
    ends_ms: number | null;
    spent_micro_usd: number;
    spent_tokens: number;
    reserved_micro_usd: number;
    reserved_tokens: number;
    /** The highest reported threshold: 0 none, 1 nearly used up, 2 used up. */
    reported_level: number;
    changed_ms: number;
  };
  /** The reservation of one call. */
  readonly budget_reservations: {
    reservation_id: string;
    /** `[row_id, micro_usd, tokens]` of each budget, as JSON. */
    parts: string;
    /** The spending row that is recorded if the reservation expires unsettled, as JSON. */
    estimate: string;
    expires_ms: number;
    /** 1 if the reservation expired unsettled and its estimate was charged. */
    is_charged: number;
  };
  /** Spending by day. */
  readonly spending: SpendingKey & SpendingFigures & { row_id: string };
}

export const costMigrations: Readonly<Record<string, Migration>> = {
  '0060_costs': {
    async up(db) {
      await makeWindows(db);
      await makeReservations(db);
      await makeSpending(db);
    },
  },
};

type Db = Parameters<Migration['up']>[0];

async function makeWindows({ schema }: Db): Promise<void> {
  await schema
    .createTable('budget_windows')
    .addColumn('row_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('budget', 'text', (column) => column.notNull())
    .addColumn('scope', 'text', (column) => column.notNull())
    .addColumn('period', 'text', (column) => column.notNull())
    .addColumn('tenant_id', 'text', (column) => column.notNull())
    .addColumn('starts_ms', 'bigint', (column) => column.notNull())
    .addColumn('ends_ms', 'bigint')
    .addColumn('spent_micro_usd', 'bigint', (column) => column.notNull())
    .addColumn('spent_tokens', 'bigint', (column) => column.notNull())
    .addColumn('reserved_micro_usd', 'bigint', (column) => column.notNull())
    .addColumn('reserved_tokens', 'bigint', (column) => column.notNull())
    .addColumn('reported_level', 'integer', (column) => column.notNull())
    .addColumn('changed_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('budget_windows_ends').on('budget_windows').column('ends_ms').execute();
  await schema
    .createIndex('budget_windows_budget')
    .on('budget_windows')
    .columns(['budget', 'starts_ms'])
    .execute();
}

async function makeReservations({ schema }: Db): Promise<void> {
  await schema
    .createTable('budget_reservations')
    .addColumn('reservation_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('parts', 'text', (column) => column.notNull())
    .addColumn('estimate', 'text', (column) => column.notNull())
    .addColumn('expires_ms', 'bigint', (column) => column.notNull())
    .addColumn('is_charged', 'integer', (column) => column.notNull())
    .execute();
  await schema
    .createIndex('budget_reservations_expires')
    .on('budget_reservations')
    .columns(['is_charged', 'expires_ms'])
    .execute();
}

const SUMS = [
  'calls',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'micro_usd',
  'estimated_calls',
  'assumed_calls',
];

async function makeSpending({ schema }: Db): Promise<void> {
  let table = schema
    .createTable('spending')
    .addColumn('row_id', 'text', (column) => column.primaryKey().notNull());
  for (const name of ['day', 'tenant_id', 'agent_id', 'user_id', 'model', 'provider'])
    table = table.addColumn(name, 'text', (column) => column.notNull());
  for (const name of SUMS) table = table.addColumn(name, 'bigint', (column) => column.notNull());
  await table.execute();
  await schema.createIndex('spending_day').on('spending').columns(['day', 'tenant_id']).execute();
}
