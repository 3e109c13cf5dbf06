import { count, nullable, text, time } from '../../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../../platform/store/define-table.ts';

declare module '../../../platform/store/tables.ts' {
  interface StoreTables extends Rows<[typeof capabilityTokens]> {}
}

/** Capability tokens. Lists are JSON. */
export const capabilityTokens = defineTable(
  'capability_tokens',
  {
    token_id: text({ key: true }),
    /** SHA-256 of the whole token, in hex. The token itself is never stored. */
    token_sha256: text({ shown: false }),
    tenant_id: text(),
    agent_id: text(),
    /** `null`: valid in any session. */
    session_id: nullable(text()),
    tool_name: text(),
    actions: text(),
    secret_keys: text(),
    issued_by: text(),
    issued_ms: time(),
    expires_ms: time(),
    revoked_by: nullable(text()),
    revoked_ms: nullable(time()),
    uses: count(),
    last_used_ms: nullable(time()),
  },
  {
    indexes: {
      capability_tokens_newest: ['issued_ms', 'token_id'],
      capability_tokens_expired: ['expires_ms'],
    },
  },
);

export const capabilityMigrations = createTables('capabilities', [capabilityTokens]);
