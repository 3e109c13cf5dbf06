/**
 * The program that tests start: the bundle of this round, which `npm test` names because it starts in half the
 * processor time; the sources where a test file runs by itself.
 */
export const MAIN_FILE = process.env.BUNDLED_PROGRAM || new URL('../main.ts', import.meta.url).pathname;
