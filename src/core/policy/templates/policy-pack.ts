import type { Json } from '../../types/index.ts';

/** A policy pack: a document of the kind `policy`, as a file below `policies/` would contain it. */
export interface PolicyPack {
  /** The name by which users select the pack: lower case, with dashes. */
  readonly name: string;
  /** One sentence. */
  readonly description: string;
  readonly document: Json;
}
