export type { Overrides } from './overrides.ts';
export { problemLine } from './problem-text.ts';
export { type Config, configSchema, type Origin } from './schema.ts';
