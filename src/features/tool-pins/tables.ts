import { Type } from '../../core/schema.ts';
import { json, nullable, text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof toolPinTables> {}
}

/** The stored tools of MCP servers. */
export const mcpPins = defineTable('mcp_pins', {
  tenant_id: text({ key: true }),
  server: text({ key: true }),
  /** The user of the list if a server shows users different lists; empty if all users share it. */
  user_id: text({ key: true }),
  tool: text({ key: true }),
  /** `null` if none was pinned yet. */
  pinned_sha256: nullable(text()),
  pinned_definition: nullable(buildDefinition('The definition that agents see.')),
  quarantined_sha256: nullable(text()),
  quarantined_definition: nullable(
    buildDefinition('The definition that waits for approval. It is untrusted text.'),
  ),
  quarantined_reason: nullable(text()),
  /** The operator who approved the pinned definition; `null` if it was pinned when first listed. */
  approved_by: nullable(text()),
  /** The definition that an operator rejected; it stays hidden from agents and no longer waits. */
  rejected_sha256: nullable(text()),
  rejected_by: nullable(text()),
  first_seen_ms: time(),
  changed_ms: time(),
});

/** Tool lists that were seen, each with its audit event. */
const mcpToolListSnapshots = defineTable('mcp_tool_list_snapshots', {
  /** A hash of the list, of its audience and of the policy that evaluated it. */
  snapshot_hash: text({ key: true }),
  event_id: text(),
  seen_ms: time(),
});

/** The definition of a tool, as canonical JSON. */
function buildDefinition(description: string) {
  return json(Type.Unsafe<object>({ type: 'object' }), { description, example: {} });
}

const toolPinTables = [mcpPins, mcpToolListSnapshots] as const;

export const toolPinMigrations = createTables('tool_pins', toolPinTables);
