import { getMembers, getText, getUniqueText } from '../json/nodes.ts';
import { quoteJson } from '../json/splice.ts';
import type { JsonNode, Splice } from '../types/json.ts';
import {
  addRequestMember,
  addRequestText,
  addToolResult,
  type RequestDraft,
  replaceNodeText,
} from './request-draft.ts';
import { buildCall, type ClientCall, findUnlistedCall } from './unlisted-calls.ts';
import type { WireText } from './wire-format.ts';

const ROLES: ReadonlyMap<string | null, WireText['role']> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
]);

/** Reads one input item of a Responses request, such as a message, a call or a tool result. */
export function readInputItem(draft: RequestDraft, item: JsonNode): void {
  const type = getUniqueText(item, 'type') ?? 'message';
  const result = RESULTS.get(type);
  if (item.kind !== 'object') addRequestText(draft, 'user', item);
  else if (result !== undefined) readResult(draft, type, item, result);
  else if (type === 'mcp_list_tools' || type === 'additional_tools')
    addAllMembers(draft, 'tool_definition', item);
  else {
    const callId = getText(item, 'call_id');
    const name = getText(item, 'name') ?? type.replace(/_call$/, '');
    if (callId !== null) draft.calls.set(callId, joinToolName(getText(item, 'namespace'), name));
    addAllMembers(
      draft,
      type === 'message' ? (ROLES.get(getUniqueText(item, 'role')) ?? 'other') : 'assistant',
      item,
    );
  }
}

function addAllMembers(draft: RequestDraft, role: WireText['role'], item: JsonNode): void {
  const isPicture = getUniqueText(item, 'type') === 'image_generation_call';
  for (const member of getMembers(item)) {
    if (isPicture && member.key.value === 'result') addRequestText(draft, role, member.value, 'sealed');
    else addRequestMember(draft, role, member, item);
  }
}

interface ResultForm {
  /** The member that holds the tool result. */
  readonly key: string;
  /** The tool, if the item is also the call. */
  readonly tool: string | null;
  /** Returns a notice in the form that this type requires. */
  readonly notice: (text: string) => string;
}

/** A transparent image of one pixel. */
const NO_PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const SHELL_END = { stderr: '', outcome: { type: 'exit', exit_code: 1 } };

const RESULTS: ReadonlyMap<string, ResultForm> = new Map([
  ['apply_patch_call_output', { key: 'output', tool: null, notice: quoteJson }],
  [
    'code_interpreter_call',
    {
      key: 'outputs',
      tool: 'code_interpreter',
      notice: (text) => JSON.stringify([{ type: 'logs', logs: text }]),
    },
  ],
  [
    'computer_call_output',
    {
      key: 'output',
      tool: null,
      notice: () => JSON.stringify({ type: 'computer_screenshot', image_url: NO_PICTURE }),
    },
  ],
  ['custom_tool_call_output', { key: 'output', tool: null, notice: quoteJson }],
  ['file_search_call', { key: 'results', tool: 'file_search', notice: () => 'null' }],
  ['function_call_output', { key: 'output', tool: null, notice: quoteJson }],
  ['local_shell_call_output', { key: 'output', tool: 'local_shell', notice: quoteJson }],
  ['mcp_call', { key: 'output', tool: null, notice: quoteJson }],
  ['program_output', { key: 'result', tool: null, notice: quoteJson }],
  [
    'shell_call_output',
    { key: 'output', tool: null, notice: (text) => JSON.stringify([{ stdout: text, ...SHELL_END }]) },
  ],
  ['tool_search_output', { key: 'tools', tool: 'tool_search', notice: () => '[]' }],
]);

function readResult(
  draft: RequestDraft,
  type: string,
  item: JsonNode,
  { key, tool, notice }: ResultForm,
): void {
  const given = getMembers(item).filter((each) => each.key.value === key);
  for (const member of getMembers(item)) {
    if (member.key.value !== key)
      addRequestMember(draft, type.endsWith('output') ? 'other' : 'assistant', member, item);
  }
  const texts = given.map((each) => each.value).filter((value) => value.kind !== 'null');
  const replaced = (text: string): Splice[] => texts.map((value) => replaceNodeText(value, notice(text)));
  const call = { tool: tool ?? getText(item, 'name'), call_id: getText(item, 'call_id') };
  if (texts.length > 0) addToolResult(draft, call, texts, replaced);
}

/** Returns the call in an item that the client has to execute. */
export function findClientCall(item: JsonNode): ClientCall | null {
  const type = getUniqueText(item, 'type') ?? '';
  if (PROVIDER_CALLS.has(type)) return null;
  if (type === 'tool_search_call' && getText(item, 'execution') === 'server') return null;
  const keys = CLIENT_CALLS.get(type);
  const call = keys === undefined ? findUnlistedCall(item) : buildCall(item, getText(item, 'name'), keys);
  return call === null ? null : { ...call, tool: joinToolName(getText(item, 'namespace'), call.tool) };
}

/** Returns the name of a tool with its namespace. Tools of one name in two namespaces are two tools. */
function joinToolName(namespace: string | null, name: string): string {
  if (!namespace) return name;
  return /(?:__|[./:])$/.test(namespace) ? namespace + name : `${namespace}.${name}`;
}

/** Returns whether a tool is one of this name in some namespace. */
export function isToolOfNamespace(tool: string, name: string): boolean {
  return tool.endsWith(name) && /(?:__|[./:])$/.test(tool.slice(0, tool.length - name.length));
}

const CLIENT_CALLS: ReadonlyMap<string, readonly string[]> = new Map([
  ['apply_patch_call', ['operation']],
  ['computer_call', ['actions', 'action']],
  ['custom_tool_call', ['input']],
  ['function_call', ['arguments']],
  ['local_shell_call', ['action']],
  ['mcp_approval_request', ['arguments']],
  ['shell_call', ['action']],
  ['tool_search_call', ['arguments']],
]);

/** Calls that the provider runs itself. Their members are texts of the answer. */
const PROVIDER_CALLS: ReadonlySet<string> = new Set([
  'code_interpreter_call',
  'file_search_call',
  'image_generation_call',
  'mcp_call',
  'web_search_call',
]);
