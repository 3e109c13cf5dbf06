/** The public API of the core: deciding on crossings, compiling policies and scanning streams. */

export { type EvaluationContext, evaluate } from './decision/evaluate.ts';
export { judge } from './decision/judge.ts';
export {
  type CompileInput,
  type CompileResult,
  compilePolicy,
  type PolicySettings,
} from './policy/compile/index.ts';
export { buildDocumentSchema, DOCUMENT_VERSION, type DocumentKind } from './policy/schemas.ts';
export { type PolicyPack, policyPacks } from './policy/templates/index.ts';
export { openStream, type StreamGuard, type StreamRelease } from './stream/stream.ts';
export type * from './types/index.ts';
