import type { Tool } from '@modelcontextprotocol/server';
import { withAliases } from '../../../operations/check-body.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import { operations } from '../../../server/operations.ts';

const offered = operations.filter(({ mcp }) => mcp !== undefined);

/** The operation behind a tool, `undefined` where there is none. */
export function findTool(name: string): AnyOperation | undefined {
  return offered.find(({ mcp }) => mcp?.tool === name);
}

/** All tools as `tools/list` shows them, in the order of the alphabet: made of the operations' own records. */
export function listOperationTools(): Tool[] {
  return offered.map(toolOf).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * Lists the other names of optional members, so that a client that checks arguments by the schema does not refuse them.
 * A required member keeps its one name: to require one of several takes `allOf` at the top, which providers of models
 * refuse in the schema of a tool.
 */
function inputSchemaOf(input: AnyOperation['input'], aliases: AnyOperation['check_body'] = {}): typeof input {
  const { required = [] } = input as { readonly required?: readonly string[] };
  const optional = Object.entries(aliases).filter(([name]) => !required.includes(name));
  return withAliases(input, Object.fromEntries(optional));
}

function toolOf({ mcp, summary, description, input, output, check_body }: AnyOperation): Tool {
  const { tool, read_only, destructive = false } = mcp!;
  return {
    name: tool,
    title: summary,
    description,
    inputSchema: inputSchemaOf(input, check_body),
    outputSchema: output,
    annotations: {
      title: summary,
      readOnlyHint: read_only,
      destructiveHint: destructive,
      idempotentHint: read_only,
      openWorldHint: false,
    },
  };
}
