import { nullable, text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<[typeof apiKeys]> {}
}

/** API keys that operators created over the API. */
const apiKeys = defineTable('api_keys', {
  /** `key_` and 24 hex digits. */
  key_id: text({ key: true }),
  /** The name in the audit log. A rotated key and its successor share it. */
  name: text(),
  /** The SHA-256 of the whole key, 64 hex digits. The key itself is not stored. */
  sha256: text({ unique: true, shown: false }),
  /** JSON lists; `null` does not restrict. */
  tenants: nullable(text()),
  agents: nullable(text()),
  permissions: nullable(text()),
  created_by: text(),
  created_ms: time(),
  expires_ms: nullable(time()),
  /** The key that replaces this one; `null` if it was not rotated. */
  replaced_by: nullable(text()),
  revoked_by: nullable(text()),
  revoked_ms: nullable(time()),
});

export const apiKeyMigrations = createTables('api_keys', [apiKeys]);
