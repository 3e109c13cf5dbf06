import type { Tool } from '@modelcontextprotocol/server';
import { operations } from '../../../operations/index.ts';
import type { AnyOperation } from '../../../operations/operation.ts';

const offered = operations.filter(({ mcp }) => mcp !== undefined);

/** The operation behind a tool, `undefined` where there is none. */
export function toolNamed(name: string): AnyOperation | undefined {
  return offered.find(({ mcp }) => mcp?.tool === name);
}

/** All tools as `tools/list` shows them, in the order of the alphabet: made of the operations' own records. */
export function toolList(): Tool[] {
  return offered.map(toolOf).sort((one, other) => (one.name < other.name ? -1 : 1));
}

function toolOf({ mcp, summary, description, input, output }: AnyOperation): Tool {
  const { tool, read_only, destructive = false } = mcp!;
  return {
    name: tool,
    title: summary,
    description,
    inputSchema: input,
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
