import { BlockedError } from '../errors.ts';

/** Options that all adapters have. */
export interface AdapterOptions {
  /**
   * Behaviour if a tool call or its result is blocked. `return`: the model reads the reason as the result and continues.
   * `raise`: the run of the agent ends with `BlockedError`. Default `return`. Blocked prompts and answers always raise.
   */
  readonly on_block?: 'return' | 'raise';
}

/**
 * Runs a guarded call. If it is blocked, returns the text for the model instead, or throws.
 *
 * @throws BlockedError if the adapter raises, and every error of the tool itself
 */
export async function runOrReportBlock<Value, Replacement>(
  { on_block = 'return' }: AdapterOptions,
  work: () => Promise<Value>,
  buildResult: (reason: string) => Replacement,
): Promise<Value | Replacement> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BlockedError) || on_block === 'raise') throw error;
    return buildResult(describeBlock(error));
  }
}

/** Returns the sentence that a model reads instead of the result of a blocked call. It holds no matched text. */
export function describeBlock({ reason, rule }: BlockedError): string {
  return `Blocked by the rule ${rule}: ${reason} Do not try again.`;
}

/** Returns the last value of a result that is still growing, and every other result as it is. */
export async function waitForWhole(result: unknown): Promise<unknown> {
  const given = await result;
  if (typeof given !== 'object' || given === null || !(Symbol.asyncIterator in given)) return given;
  let last: unknown;
  for await (const each of given as AsyncIterable<unknown>) last = each;
  return last;
}

/** Creates an object that is like another one but for some members. Methods and private members still work. */
export function overrideMembers<Original extends object>(original: Original, own: object): Original {
  return new Proxy(original, {
    get: (target, name) => {
      if (Object.hasOwn(own, name)) return (own as Record<PropertyKey, unknown>)[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
