import { getMember, getMembers, getText, getUniqueText } from '../json/nodes.ts';
import type { JsonNode } from '../types/json.ts';

/** A call that a client may execute. */
export interface ClientCall {
  readonly tool: string;
  readonly call_id: string | null;
  readonly arguments: JsonNode;
}

/** Types and members of calls: `tool_use`, `function_call`, `toolCalls`, `tool-call`. */
const CALL = /(?:call|tool[-_]?use)s?$/i;
/** Other members of a call that hold its name and arguments. */
const PART = /^(?:function|custom|tool)$/i;

const NAMES = ['name', 'tool_name', 'toolName', 'function_name', 'functionName'];
const ARGUMENTS = ['arguments', 'args', 'input', 'parameters', 'params', 'tool_input', 'toolInput'];
const ARGUMENTS_OF_TYPES = [...ARGUMENTS, 'actions', 'action', 'operation'];

/** Returns whether a member of this name may hold a call or calls. */
export function isCallKey(key: string): boolean {
  return CALL.test(key) || PART.test(key);
}

/**
 * Returns the call in an object that no list of the format has: by its type, by the member `key` that holds it, or because
 * it has a name and arguments. A client may run it, so it is judged as a call. If it has two names or two arguments,
 * clients differ in which they use, so it is returned without a name and blocked.
 */
export function findUnlistedCall(node: JsonNode, key = ''): ClientCall | null {
  if (node.kind !== 'object') return null;
  const type = getUniqueText(node, 'type') ?? '';
  const names = NAMES.flatMap((each) => getText(node, each) ?? []);
  const isTyped = CALL.test(type);
  const keys = isTyped ? ARGUMENTS_OF_TYPES : ARGUMENTS;
  const stated = listStated(node, keys).length;
  const isNamed = names.length > 0 && (stated > 0 || isCallKey(key));
  const isCall = isNamed || (isTyped && (names.length > 0 || !holdsPart(node)));
  if (!isCall) return null;
  const call = buildCall(node, names[0] ?? null, keys);
  return names.length > 1 || stated > 1 ? { ...call, tool: '' } : call;
}

/** Builds the call of an object, whose arguments are in one of these members. Without a name it is named after its type. */
export function buildCall(node: JsonNode, name: string | null, keys: readonly string[]): ClientCall {
  const type = getUniqueText(node, 'type') ?? '';
  return {
    tool: name ?? /^(.*?)[-_]?call$/i.exec(type)?.[1] ?? '',
    call_id: getText(node, 'call_id') ?? getText(node, 'id'),
    // A call without arguments is still a call.
    arguments: listStated(node, keys)[0] ?? { kind: 'null', start: node.end, end: node.end },
  };
}

/** Returns those of these members that are not null. */
function listStated(node: JsonNode, keys: readonly string[]): readonly JsonNode[] {
  const members = keys.map((key) => getMember(node, key));
  return members.filter((each): each is JsonNode => each !== null && each.kind !== 'null');
}

function holdsPart(node: JsonNode): boolean {
  return getMembers(node).some(({ key, value }) => value.kind === 'object' && isCallKey(key.value));
}
