/** The public surface of core: what decides, what it decides on, and how a policy is made. */
export { type Compiled, type CompileInput, compile, type PolicySettings } from './compile/index.ts';
export { judge } from './decide.ts';
export { type EvaluationContext, evaluate } from './evaluate.ts';
export { DOCUMENT_VERSION, type DocumentKind, documentSchema } from './schemas.ts';
export { openStream, type Released, type Stream } from './stream/stream.ts';
export { type Template, templates } from './templates/index.ts';
export type * from './types.ts';
