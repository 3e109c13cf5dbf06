/** Runs the tests' Python files with the checkout's package. */
import { join } from 'node:path';
import { type CheckoutRun, root, runProgram, userEnvironment } from '../support/checkout.ts';

/** All runs share compiled modules, because packages take seconds to compile, and their installation leaves that out. */
export const PYTHON_CACHE = { PYTHONPYCACHEPREFIX: join(root, '.components/pycache') };

/** Runs a file with an environment's Python. */
export function runPython(
  python: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CheckoutRun> {
  const own = { PYTHONPATH: join(root, 'python'), ...PYTHON_CACHE };
  return runProgram([python, ...words], { env: userEnvironment({ ...own, ...env }) });
}
