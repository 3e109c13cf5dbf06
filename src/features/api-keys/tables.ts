import { nullable, text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<[typeof apiKeys]> {}
}

/** API keys that operators created over the API. */
export const apiKeys = defineTable('api_keys', {
  /** `key_` and 24 hex digits. */
  key_id: text({ key: true }),
  /** A rotated key and its successor share it. */
  name: text({ description: 'Its calls have the caller `key:<name>` in the audit log.' }),
  /** The SHA-256 of the whole key, 64 hex digits. The key itself is not stored. */
  sha256: text({ unique: true, shown: false }),
  /** JSON lists; `null` does not restrict. */
  tenants: nullable(text({ shown: false })),
  agents: nullable(text({ shown: false })),
  permissions: nullable(text({ shown: false })),
  /** A JSON list of people; `null` for none. */
  may_act_for: nullable(text({ shown: false })),
  created_by: text(),
  created_ms: time(),
  expires_ms: nullable(time()),
  replaced_by: nullable(text({ description: 'The `key_id` of its successor.' })),
  revoked_by: nullable(text()),
  revoked_ms: nullable(time()),
});

export const apiKeyMigrations = createTables('api_keys', [apiKeys]);
