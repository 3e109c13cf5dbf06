import { clusterMigrations } from '../platform/cluster/tables.ts';
import { outboxMigrations } from '../platform/outbox/tables.ts';
import type { Migrations } from '../platform/store/index.ts';
import { sessionMigrations } from '../runtime/enforcement/sessions/tables.ts';
import { totalMigrations } from '../runtime/enforcement/totals/tables.ts';
import { valueMigrations } from '../runtime/enforcement/values/tables.ts';
import { managedRevisionMigrations } from '../runtime/managed-policy/tables.ts';
import { features } from './features.ts';

/**
 * Returns all migrations of all versions, ordered by name. A published migration is never edited; a later one corrects
 * it.
 */
export function listMigrations(): Migrations {
  return Object.assign(
    {
      ...clusterMigrations,
      ...managedRevisionMigrations,
      ...outboxMigrations,
      ...sessionMigrations,
      ...totalMigrations,
      ...valueMigrations,
    },
    ...features.map(({ migrations }) => migrations),
  );
}
