import { count, nullable, text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<[typeof capabilityTokens]> {}
}

/** Capability tokens. Tool, actions and secrets are shown as `scope`; the lists are JSON. */
export const capabilityTokens = defineTable(
  'capability_tokens',
  {
    token_id: text({ key: true, example: 'cap_0123456789abcdef01234567' }),
    /** SHA-256 of the whole token, in hex. The token itself is never stored. */
    token_sha256: text({ shown: false }),
    tenant_id: text({ example: 'default' }),
    agent_id: text({ example: 'support-bot' }),
    session_id: nullable(text({ description: '`null`: any session.' }), 'sess-1'),
    tool_name: text({ shown: false }),
    actions: text({ shown: false }),
    secret_keys: text({ shown: false }),
    issued_by: text({ example: 'operator' }),
    issued_ms: time(),
    expires_ms: time({ example: '2026-01-31T12:10:00.000Z' }),
    revoked_by: nullable(text()),
    revoked_ms: nullable(time()),
    uses: count({ description: 'Number of calls that the token allowed.' }),
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
