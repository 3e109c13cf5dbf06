import { bytes, count, text, time } from '../../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../../platform/store/define-table.ts';

declare module '../../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof valueTables> {}
}

/** The values that a session has seen, as keyed hashes. */
const valuesSeen = defineTable(
  'values_seen',
  {
    tenant_id: text({ key: true }),
    session_id: text({ key: true }),
    agent_id: text({ key: true }),
    /** SHA-256 of the credential's name and the proved person: others that name the same session get their own row. */
    principal_hash: text({ key: true }),
    /** Rises with every change. A new row begins with a random number, so that no cached copy of an old row matches. */
    version: count(),
    /** See `value-log.ts`. */
    entries: bytes(),
    started_ms: time(),
    /** The time of the last use, precise to a tenth of the idle time. */
    seen_ms: time(),
  },
  { indexes: { values_seen_last: ['seen_ms'], values_seen_started: ['started_ms'] } },
);

/** Keyed hashes of texts in conversations with models, for `flow.llm_user_role: trust`. */
const conversationTexts = defineTable(
  'conversation_texts',
  {
    tenant_id: text({ key: true }),
    principal_hash: text({ key: true }),
    /** A tool's text, or a session's name. */
    text_hash: text({ key: true }),
    /** The session's first text; empty for a tool's text. */
    first_hash: text(),
    seen_ms: time(),
  },
  { indexes: { conversation_texts_seen: ['seen_ms'] } },
);

const valueTables = [conversationTexts, valuesSeen] as const;

export const valueMigrations = {
  ...createTables('values_seen', [valuesSeen]),
  ...createTables('conversation_texts', [conversationTexts]),
};
