import type { Tool } from '@modelcontextprotocol/server';
import { addAliases } from '../../../operations/check-body.ts';
import { type AnyOperation, getFullDescription } from '../../../operations/operation.ts';
import { operations } from '../../../server/operations.ts';

const offered = operations.filter(({ mcp }) => mcp !== undefined);

/** Returns the operation of a tool; `undefined` if there is none. */
export function findTool(name: string): AnyOperation | undefined {
  return offered.find(({ mcp }) => mcp?.tool === name);
}

/** Lists all tools for `tools/list` in alphabetical order, derived from the operation records. */
export function listOperationTools(): Tool[] {
  return offered.map(getTool).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * Lists the aliases of optional members, so that a client that validates arguments does not refuse them. A required
 * member has only its own name: to require one of several takes `allOf` at the top, which model providers refuse in the
 * schema of a tool.
 */
function getInputSchema(
  input: AnyOperation['input'],
  aliases: AnyOperation['check_body'] = {},
): typeof input {
  const { required = [] } = input as { readonly required?: readonly string[] };
  const optional = Object.entries(aliases).filter(([name]) => !required.includes(name));
  return addAliases(input, Object.fromEntries(optional));
}

function getTool(operation: AnyOperation): Tool {
  const { mcp, summary, input, output, check_body } = operation;
  const { tool, read_only, destructive = false } = mcp!;
  return {
    name: tool,
    title: summary,
    description: getFullDescription(operation),
    inputSchema: getInputSchema(input, check_body),
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
