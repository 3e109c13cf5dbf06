import type { Migration } from 'kysely/migration';

/** Migrations by name: four digits that give the order, and a subject (`0001_approvals`). */
export type Migrations = Readonly<Record<string, Migration>>;
