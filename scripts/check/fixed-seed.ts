/**
 * Preloaded before the tests of a full run: generated input is the same in each run, so that a failure comes
 * from the change. The quick run uses a new seed each time, and prints the seed of a failure.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: 20_261_121 });
