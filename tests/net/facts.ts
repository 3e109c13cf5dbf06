import { explainMissingPostgres } from '../../src/platform/store/testing/postgres-server.ts';
import { collectHelp, collectMcpTools, collectOpenApi } from './interfaces.ts';
import { collectLists } from './lists.ts';
import { collectPostgresTables, collectSqliteTables } from './tables.ts';

/** A data file that needs no service. */
export interface FactFile {
  readonly name: string;
  readonly collect: () => string | Promise<string>;
  /** Returns why it cannot be collected here, or `null`. */
  readonly explainMissing?: () => string | null;
}

/** The data files that need no service. `cases-over-http.ts` and `access-world.ts` make the others. */
export const factFiles: readonly FactFile[] = [
  { name: 'help.txt', collect: collectHelp },
  { name: 'lists.txt', collect: collectLists },
  { name: 'mcp-tools.json', collect: collectMcpTools },
  { name: 'openapi.json', collect: collectOpenApi },
  {
    name: 'tables-postgres.txt',
    collect: collectPostgresTables,
    explainMissing: explainMissingPostgres,
  },
  { name: 'tables-sqlite.txt', collect: collectSqliteTables },
];
