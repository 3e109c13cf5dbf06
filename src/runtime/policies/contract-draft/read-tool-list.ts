import type { Json, JsonObject } from '../../../core/types/index.ts';
import { asObject } from './argument-roles.ts';
import {
  DESCRIPTION_UNITS_MAX,
  NAME_UNITS_MAX,
  TOOLS_MAX,
  type ToolDescription,
  type ToolHints,
} from './tool-description.ts';

/** The tools of a list, or the reason why it is refused. The sentence repeats nothing of the list. */
export type ToolsRead =
  | { readonly ok: true; readonly tools: readonly ToolDescription[] }
  | { readonly ok: false; readonly message: string };

export interface ToolListNames {
  readonly server: string | null;
  /** Returns the name that calls have. */
  readonly toCallName: (name: string) => string;
}

/** Reads an answer to `tools/list` of MCP: `{tools: [...]}`, the whole JSON-RPC response, or the list alone. */
export function readToolList(answer: Json, names: ToolListNames): ToolsRead {
  const result = asObject(asObject(answer)?.result) ?? asObject(answer);
  const list = Array.isArray(answer) ? answer : result?.tools;
  if (!Array.isArray(list))
    return refuse('It has no `tools`. Give the answer to `tools/list`: `{"tools": [{"name": ...}]}`.');
  if (list.length > TOOLS_MAX)
    return refuse(`It has ${list.length} tools, and a draft has at most ${TOOLS_MAX}.`);
  const tools: ToolDescription[] = [];
  for (const [at, each] of list.entries()) {
    const tool = asObject(each as Json);
    const name = tool?.name;
    if (tool === null || typeof name !== 'string' || name === '')
      return refuse(`\`tools[${at}].name\` is no text.`);
    const described = describeTool(name, tool, names);
    tools.push(described);
  }
  return checkTools(tools);
}

/** Refuses tools whose names are too long, or are there twice. */
export function checkTools(tools: readonly ToolDescription[]): ToolsRead {
  const seen = new Set<string>();
  for (const [at, { tool_name }] of tools.entries()) {
    if (tool_name.length > NAME_UNITS_MAX)
      return refuse(`The name of tool ${at + 1} is longer than ${NAME_UNITS_MAX} characters.`);
    if (seen.has(tool_name)) return refuse(`The name of tool ${at + 1} is there twice.`);
    seen.add(tool_name);
  }
  return { ok: true, tools };
}

function refuse(message: string): ToolsRead {
  return { ok: false, message };
}

function describeTool(
  name: string,
  tool: JsonObject,
  { server, toCallName }: ToolListNames,
): ToolDescription {
  return {
    name,
    tool_name: toCallName(name),
    description: typeof tool.description === 'string' ? tool.description.slice(0, DESCRIPTION_UNITS_MAX) : '',
    input_schema: asObject(tool.inputSchema) ?? asObject(tool.input_schema),
    output_schema: asObject(tool.outputSchema) ?? asObject(tool.output_schema),
    hints: readHints(asObject(tool.annotations)),
    server,
  };
}

/** Only hints that make a tool stricter count, because the server itself states them. */
function readHints(annotations: JsonObject | null): ToolHints {
  return {
    ...(annotations?.readOnlyHint === false && { writes: true as const }),
    ...(annotations?.destructiveHint === true && { destroys: true as const }),
    ...(annotations?.openWorldHint === true && { is_open_world: true as const }),
  };
}
