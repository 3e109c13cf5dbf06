import { BlockedError, ToolError } from './errors.ts';
import { toPlainJson } from './plain-json.ts';

/** Causes of an error that are read. An error with more is replaced. */
const CAUSES_MAX = 8;

/**
 * Returns the error to throw for one that a tool threw. Frameworks give the text of an error to the model as the result
 * of the tool, so it is checked as one: the same error if its text may pass, a `ToolError` with the masked text, or
 * `BlockedError`.
 *
 * @param check - checks the text as a result of the tool. It rejects with `BlockedError`
 */
export async function checkToolError(
  error: unknown,
  check: (text: string) => Promise<string>,
): Promise<unknown> {
  if (error instanceof BlockedError || isControlFlow(error)) return error;
  const text = writeError(error);
  try {
    const checked = await check(text ?? UNREADABLE);
    return checked === text ? error : new ToolError(checked);
  } catch (failure) {
    return failure;
  }
}

/** Runs a tool. Returns its checked result, or throws its checked error. */
export async function runChecked<Output>(
  execute: () => Output | PromiseLike<Output>,
  check: <Value>(value: Value) => Promise<Value>,
): Promise<Awaited<Output>> {
  let output: Awaited<Output>;
  try {
    output = await execute();
  } catch (error) {
    throw await checkToolError(error, check);
  }
  return check(output);
}

const UNREADABLE = 'The tool failed, and its error cannot be read.';

/** LangGraph ends a node by an error that no model reads. */
function isControlFlow(error: unknown): boolean {
  return error instanceof Error && (error as { is_bubble_up?: unknown }).is_bubble_up === true;
}

/** Returns the text that a framework may show of an error, with that of its causes; `null` if it cannot be read. */
function writeError(error: unknown, depth = 0): string | null {
  if (typeof error === 'string') return error;
  if (depth > CAUSES_MAX) return null;
  if (!(error instanceof Error)) {
    const plain = toPlainJson(error);
    return plain.ok ? JSON.stringify(plain.value) : null;
  }
  if (error.cause === undefined) return error.message;
  const cause = writeError(error.cause, depth + 1);
  return cause === null ? null : `${error.message}\n${cause}`;
}
