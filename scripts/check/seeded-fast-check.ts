/** The package `fast-check` with a fixed seed, in whose place `fixed-seed.ts` loads it. */
import fc from 'fast-check';

fc.configureGlobal({ seed: 20_261_121 });

export * from 'fast-check';
export default fc;
