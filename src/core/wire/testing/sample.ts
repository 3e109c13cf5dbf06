import type { WireName } from '../wire-format.ts';

/** Bodies of one format as the provider's documentation and its official client's types have them. */
export interface WireSample {
  readonly format: WireName;
  readonly requests: readonly unknown[];
  readonly answers: readonly unknown[];
  /** Streams, each as the data of its events. */
  readonly streams: readonly (readonly unknown[])[];
}

/** Bytes that are no text, as bodies carry them. */
export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
