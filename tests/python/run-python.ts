/** Runs the tests' Python files with the checkout's package. */
import { join } from 'node:path';
import { type CheckoutRun, root, runProgram, userEnvironment } from '../support/checkout.ts';

/**
 * Runs a file with an environment's Python. All runs share compiled modules, because frameworks take seconds to
 * compile.
 */
export function runPython(
  python: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CheckoutRun> {
  const own = { PYTHONPATH: join(root, 'python'), PYTHONPYCACHEPREFIX: join(root, '.components/pycache') };
  return runProgram([python, ...words], { env: userEnvironment({ ...own, ...env }) });
}
