import type { AgentBlockTables } from '../agent-blocks/tables.ts';
import type { ApprovalTables } from '../approvals/tables.ts';
import type { CapabilityTables } from '../capabilities/tables.ts';
import type { CostTables } from '../costs/tables.ts';
import type { McpTables } from '../mcp/tables.ts';
import type { MemoryTables } from '../memory/tables.ts';
import type { SessionTables } from '../sessions/tables.ts';

/**
 * All tables of the store. Each subject describes its own beside its code (`runtime/<subject>/tables.ts`) and is
 * named here; the changes that make them are in `migrations.ts`.
 */
export interface StoreTables
  extends AgentBlockTables,
    ApprovalTables,
    CapabilityTables,
    CostTables,
    McpTables,
    MemoryTables,
    SessionTables {
  /** Which changes of the tables were made, and when (ISO 8601). */
  readonly store_migrations: { readonly name: string; readonly timestamp: string };
}
