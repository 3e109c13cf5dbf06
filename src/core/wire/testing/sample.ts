import type { WireName } from '../wire-format.ts';

/** Bodies of one format, as in the provider's documentation and the types of its official client. */
export interface WireSample {
  readonly format: WireName;
  readonly requests: readonly unknown[];
  readonly answers: readonly unknown[];
  /** Streams, each as the data of its events. */
  readonly streams: readonly (readonly unknown[])[];
}

/** Binary data in the form that bodies carry it. */
export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
