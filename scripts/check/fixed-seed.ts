/**
 * Preloaded before the tests of a full run: generated input is the same in each run, so that a failure comes
 * from the change. The quick run uses a new seed each time, and prints the seed of a failure. The package is loaded only
 * by the files that use it, a tenth of all.
 */
import { registerHooks } from 'node:module';

const SEEDED = import.meta.resolve('./seeded-fast-check.ts');

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === 'fast-check' && context.parentURL !== SEEDED
      ? { url: SEEDED, shortCircuit: true }
      : nextResolve(specifier, context),
});
