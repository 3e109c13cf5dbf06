export type { Overrides } from './overrides.ts';
export { formatProblem } from './problem-text.ts';
export { type Config, type ConfigOrigin, spineSchema } from './schema.ts';
