/**
 * Loaded before the tests of a full round: generated input is the same in each, so that what fails there is the
 * change and not the day. The quick round generates anew each time, and prints the seed of what it finds.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: 20_261_121 });
