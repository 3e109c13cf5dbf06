/** Calls whose arguments an answer could not show, decided before the conversation holds them. */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';
import { runChecked } from '../tool-error.ts';
import type { GuardVerdict } from '../types.ts';

/** A tool call as a model makes it. Some frameworks give no id to the tool, which then receives the same `input`. */
export interface ModelCall {
  readonly id?: string | undefined;
  readonly tool: string;
  readonly input: unknown;
}

/**
 * Decisions on a model's calls, by their ids and their arguments. A call is decided when the model makes it if an
 * answer could not show its arguments. The conversation then holds the arguments for an allowed call, and masked ones for a
 * refused call. All other calls are decided when their tool runs.
 */
export interface HeldCalls {
  /** Returns the arguments that the conversation may hold: the given object if they need no change. */
  readonly hold: (call: ModelCall) => Promise<unknown>;
  /** Returns the arguments with which a tool may run. @throws BlockedError */
  readonly decide: (call: ModelCall) => Promise<unknown>;
}

/** The decisions that are kept; the oldest is dropped first. */
const CALLS_MAX = 1_000;

const held = new WeakMap<Guard, HeldCalls>();

/** Refusals by all guards, because a model and its tools may have guards for different subjects. */
const refused = openDecisions<BlockedError>();

/** Returns the decisions of a guard, which its models and tools share. */
export function getHeldCalls(guard: Guard): HeldCalls {
  const known = held.get(guard) ?? openHeldCalls(guard);
  held.set(guard, known);
  return known;
}

/** Returns why a held call was refused; `undefined` if it was not. */
export function findRefusal(call: ModelCall): BlockedError | undefined {
  return refused.get(call);
}

/** Runs a tool behind the guard as `Guard.run` does, with the decision on its call if that was held. */
export async function runHeldCall<Input, Output>(
  guard: Guard,
  call: ModelCall & { readonly input: Input },
  execute: (input: Input) => Output | PromiseLike<Output>,
): Promise<Awaited<Output>> {
  const allowed = (await getHeldCalls(guard).decide(call)) as Input;
  return runChecked(
    () => execute(allowed),
    (value) => guard.protect.toolResult(call.tool, value),
  );
}

/** Returns whether an answer may show a value's JSON form. */
export async function isShown(guard: Guard, value: unknown): Promise<boolean> {
  return (await judgeOutput(guard, value)).decision === 'allow';
}

function openHeldCalls(guard: Guard): HeldCalls {
  const allowed = openDecisions<string>();
  return {
    hold: async (call) => {
      const { decision, modified_text } = await judgeOutput(guard, call.input);
      if (decision === 'allow') {
        // Some providers use an id more than once.
        refused.delete(call);
        return call.input;
      }
      try {
        const kept = await guard.protect.tool(call.tool, call.input);
        refused.delete(call);
        allowed.set({ ...call, input: kept }, JSON.stringify(kept));
        return kept;
      } catch (error) {
        if (!(error instanceof BlockedError)) throw error;
        const masked = parseObject(modified_text);
        refused.set({ ...call, input: masked }, error);
        return masked;
      }
    },
    decide: async (call) => {
      const error = findRefusal(call);
      if (error !== undefined) throw error;
      const kept = allowed.get(call);
      allowed.delete(call);
      // Something between the model and the tool may have changed the arguments.
      const isDecided = kept !== undefined && kept === JSON.stringify(call.input);
      return isDecided ? call.input : guard.protect.tool(call.tool, call.input);
    },
  };
}

async function judgeOutput(guard: Guard, value: unknown): Promise<GuardVerdict> {
  try {
    return await guard.output(JSON.stringify(value) ?? '');
  } catch (error) {
    if (error instanceof BlockedError) return error.verdict;
    throw error;
  }
}

/** Masked arguments keep the form that the schema of a tool requires, where the masks leave them JSON. */
function parseObject(text = ''): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Decisions by a call's id or, without one, by its arguments object. */
function openDecisions<Decision>() {
  const byId = new Map<string, Decision>();
  const byInput = new WeakMap<object, Decision>();
  const isObject = (input: unknown): input is object => typeof input === 'object' && input !== null;
  return {
    get: ({ id = '', input }: ModelCall): Decision | undefined =>
      byId.get(id) ?? (isObject(input) ? byInput.get(input) : undefined),
    set: ({ id = '', input }: ModelCall, decision: Decision): void => {
      if (isObject(input)) byInput.set(input, decision);
      if (id === '') return;
      byId.delete(id);
      byId.set(id, decision);
      const [oldest] = byId.keys();
      if (byId.size > CALLS_MAX && oldest !== undefined) byId.delete(oldest);
    },
    delete: ({ id = '', input }: ModelCall): void => {
      byId.delete(id);
      if (isObject(input)) byInput.delete(input);
    },
  };
}
