import type { Json } from '../../types/index.ts';

/** A policy pack: a document of the kind `policy`, as it would stand in a file below `policies/`. */
export interface PolicyPack {
  /** Lower case, with dashes: what one asks for it by. */
  readonly name: string;
  /** One sentence. */
  readonly description: string;
  readonly document: Json;
}
