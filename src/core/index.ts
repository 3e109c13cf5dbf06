/** The public surface of core: what decides, what it decides on, and how a policy is made. */

export { type EvaluationContext, evaluate } from './decision/evaluate.ts';
export { judge } from './decision/judge.ts';
export { type Compiled, type CompileInput, compile, type PolicySettings } from './policy/compile/index.ts';
export { DOCUMENT_VERSION, type DocumentKind, documentSchema } from './policy/schemas.ts';
export { type Template, templates } from './policy/templates/index.ts';
export { openStream, type Released, type Stream } from './stream/stream.ts';
export type * from './types/index.ts';
