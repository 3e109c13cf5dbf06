import { getProgram } from '../layers.ts';
import type { TidyRule } from '../rule.ts';

/** Folders whose files meet other libraries' types everywhere. */
const FOREIGN = ['src/drivers/', 'src/sdk/adapters/'];

/** Other files that need such a cast, each with the reason. */
const KNOWN: Readonly<Record<string, string>> = {
  'src/entry/mcp/stdio-input.ts': 'the MCP library has no type for a batch, nor for an error without an id',
  'src/features/alerts/queues.ts': 'a section and the driver of its type',
  'src/gateways/mcp/gateway-server.ts': 'the MCP library types the answer of each method',
  'src/gateways/mcp/guarded-fetch.ts': 'types of Node and of the HTTP library',
  'src/platform/store/define-table.ts': 'a column and the value in its row',
  'src/runtime/secrets/open.ts': 'a section and the driver of its name',
};

export const casts: TidyRule = {
  name: 'casts',
  reason: 'Types survive: `as never` and `as unknown as` hide a change from the compiler.',
  examine: ({ sources }) =>
    getProgram(sources)
      .filter(({ path }) => KNOWN[path] === undefined && !FOREIGN.some((folder) => path.startsWith(folder)))
      .flatMap(({ path, casts: found }) =>
        found.map(({ kind, line }) => ({ path, line, message: `\`${kind}\`: give the value its type` })),
      ),
  refuses: [
    { files: { 'src/core/a.ts': 'const a = b as never;' }, remarks: 1 },
    { files: { 'src/core/a.ts': 'const a = b as unknown as C;' }, remarks: 1 },
  ],
  accepts: [
    { 'src/core/a.ts': "// as never before\nconst a = b as C;\nconst d = 'as unknown as';" },
    { 'src/drivers/a.ts': 'const a = b as unknown as C;' },
    { 'src/core/a.test.ts': 'const a = b as never;' },
  ],
};
