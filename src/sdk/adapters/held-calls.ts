/** Calls whose arguments an answer could not show, decided before the conversation holds them. */
import { BlockedError } from '../errors.ts';
import type { Guard } from '../guard.ts';

/**
 * Decisions on the calls of a model, by their ids. A call is decided when the model makes it if an answer could not show
 * its arguments. The conversation then holds the arguments of an allowed call, and none of a refused one. All other calls
 * are decided when their tool runs.
 */
export interface HeldCalls {
  /** Returns the arguments that the conversation may hold. */
  readonly hold: (call_id: string, tool: string, input: unknown) => Promise<unknown>;
  /** Returns the arguments with which a tool may run. @throws BlockedError */
  readonly decide: (call_id: string | undefined, tool: string, input: unknown) => Promise<unknown>;
}

/** The decisions that are kept; the oldest is dropped first. */
const CALLS_MAX = 1_000;

const held = new WeakMap<Guard, HeldCalls>();

/** Returns the decisions of a guard, which its models and tools share. */
export function getHeldCalls(guard: Guard): HeldCalls {
  const known = held.get(guard) ?? openHeldCalls(guard);
  held.set(guard, known);
  return known;
}

function openHeldCalls({ protect, output }: Guard): HeldCalls {
  const allowed = new Map<string, string>();
  const refused = new Map<string, BlockedError>();
  return {
    hold: async (call_id, tool, input) => {
      const text = JSON.stringify(input) ?? '';
      if (await isShown(output, text)) return input;
      try {
        const kept = await protect.tool(tool, input);
        keep(allowed, call_id, JSON.stringify(kept));
        return kept;
      } catch (error) {
        if (!(error instanceof BlockedError)) throw error;
        keep(refused, call_id, error);
        return {};
      }
    },
    decide: async (call_id, tool, input) => {
      const text = JSON.stringify(input);
      const error = refused.get(call_id ?? '');
      if (error !== undefined && text === '{}') throw error;
      const kept = allowed.get(call_id ?? '');
      allowed.delete(call_id ?? '');
      // Something between the model and the tool may have changed the arguments.
      return kept === text ? input : protect.tool(tool, input);
    },
  };
}

async function isShown(output: Guard['output'], text: string): Promise<boolean> {
  try {
    const { decision } = await output(text);
    return decision === 'allow';
  } catch (error) {
    if (error instanceof BlockedError) return false;
    throw error;
  }
}

function keep<Decision>(decisions: Map<string, Decision>, call_id: string, decision: Decision): void {
  decisions.set(call_id, decision);
  const [oldest] = decisions.keys();
  if (decisions.size > CALLS_MAX && oldest !== undefined) decisions.delete(oldest);
}
