import type { Migration } from 'kysely/migration';

/** Changes of the tables by their name: four digits that give the order, and a subject (`0010_approvals`). */
export type Migrations = Readonly<Record<string, Migration>>;
