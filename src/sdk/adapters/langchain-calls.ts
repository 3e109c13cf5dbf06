/** Holds the calls in LangChain answers, in every form in which a message repeats them. */
import type { Guard } from '../guard.ts';
import { getHeldCalls, isShown } from './held-calls.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A message's members that hold calls. `content` has some providers' calls as blocks. */
interface CallingMessage {
  readonly content: unknown;
  readonly tool_calls?: readonly Fields[];
  readonly invalid_tool_calls?: readonly Fields[];
  readonly tool_call_chunks?: readonly Fields[];
}

/** Call members with its id, and those with its arguments. */
const ID_MEMBERS = ['id', 'call_id', 'tool_call_id'];
const ARGUMENT_MEMBERS = ['args', 'arguments', 'input', 'partial_json'];

/** Returns the message members that held calls change; `null` if there are none. */
export async function holdMessageCalls(message: object, guard: Guard): Promise<object | null> {
  const given = message as CallingMessage;
  const { tool_calls = [], invalid_tool_calls = [], tool_call_chunks = [] } = given;
  const kept = new Map<string, unknown>();
  const heldCalls = await Promise.all(
    tool_calls.map(async (call) => {
      const { id, name, args } = call;
      const input = await getHeldCalls(guard).hold({ id: id as string, tool: String(name), input: args });
      if (input === args) return call;
      if (typeof id === 'string') kept.set(id, input);
      return { ...call, args: input };
    }),
  );
  const shownInvalid = await filterShown(invalid_tool_calls, guard);
  const isSame =
    heldCalls.every((call, at) => call === tool_calls[at]) &&
    shownInvalid.length === invalid_tool_calls.length;
  if (isSame) return null;
  const rebuild = async (calls: readonly Fields[]) =>
    filterShown(
      calls.map((call) => replaceArguments(call, kept)),
      guard,
      kept,
    );
  const { content } = given;
  return {
    tool_calls: heldCalls,
    invalid_tool_calls: shownInvalid,
    tool_call_chunks: await rebuild(tool_call_chunks),
    content: Array.isArray(content) ? await rebuild(content as Fields[]) : content,
  };
}

/** Returns a call with the arguments that its conversation may hold, as a text or a value as before. */
function replaceArguments(call: Fields, kept: ReadonlyMap<string, unknown>): Fields {
  const id = findId(call, kept);
  if (id === undefined) return call;
  const input = kept.get(id);
  const changed = ARGUMENT_MEMBERS.filter((member) => member in call).map((member) => [
    member,
    typeof call[member] === 'string' ? JSON.stringify(input) : input,
  ]);
  return { ...call, ...Object.fromEntries(changed) };
}

/** Leaves out what an answer may not show, unless it is a call whose arguments are decided. */
async function filterShown(
  values: readonly Fields[],
  guard: Guard,
  kept: ReadonlyMap<string, unknown> = new Map(),
): Promise<readonly Fields[]> {
  const shown = await Promise.all(
    values.map(async (value) => findId(value, kept) !== undefined || isShown(guard, value)),
  );
  return values.filter((_, at) => shown[at]);
}

function findId(call: Fields, kept: ReadonlyMap<string, unknown>): string | undefined {
  return ID_MEMBERS.map((member) => call[member] as string).find((id) => kept.has(id));
}
