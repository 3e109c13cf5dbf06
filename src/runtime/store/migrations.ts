import type { Migration } from 'kysely/migration';
import { agentBlockMigrations } from '../agent-blocks/tables.ts';
import { approvalMigrations } from '../approvals/tables.ts';
import { capabilityMigrations } from '../capabilities/tables.ts';
import { costMigrations } from '../costs/tables.ts';
import { mcpMigrations } from '../mcp/tables.ts';
import { memoryMigrations } from '../memory/tables.ts';
import { sessionMigrations } from '../sessions/tables.ts';

/** Changes of the tables by their name: four digits that give the order, and a subject (`0010_approvals`). */
export type Migrations = Readonly<Record<string, Migration>>;

/**
 * Every change that any version has made, in the order of their names. One that was published is never edited;
 * what it got wrong is mended by another.
 */
export const MIGRATIONS: Migrations = {
  ...agentBlockMigrations,
  ...approvalMigrations,
  ...capabilityMigrations,
  ...costMigrations,
  ...mcpMigrations,
  ...memoryMigrations,
  ...sessionMigrations,
};
