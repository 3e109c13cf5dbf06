import type { WireRequest, WireUsage } from '../../core/wire/wire-format.ts';

/** The UTF-16 units of ordinary text per token, in the tokenizers of current models. */
const UNITS_PER_TOKEN = 4;
/** The base64 units of an image or file per token (at least one), and the minimum cost of one, in tokens. */
const OPAQUE_UNITS_PER_TOKEN = 32;
const OPAQUE_TOKENS_MIN = 3_000;

/** The size of a request. `units` are UTF-16 units; `opaque_units` are those of images and files. */
export interface RequestSize {
  readonly units: number;
  readonly bytes: number;
  readonly opaque_units: number;
  /** True if the request may ask the provider's cache for a lifetime of one hour. */
  readonly may_cache_1h: boolean;
}

/** Measures a body: its text, its bytes and its non-text parts. */
export function measureRequest(text: string, bytes: Uint8Array, { opaque_units }: WireRequest): RequestSize {
  // Matches any member name and position. A text that contains `"1h"` too only causes a larger reservation.
  const mayCache1h = text.includes('"1h"');
  return { units: text.length, bytes: bytes.length, opaque_units, may_cache_1h: mayCache1h };
}

/**
 * Estimates an upper bound of the input tokens, for reservations. Non-ASCII units have more than one byte each, so
 * `bytes` minus `units` measures them.
 */
export function estimateMaxInputTokens({ units, bytes, opaque_units }: RequestSize): number {
  const other = bytes - units;
  const plain = Math.max(0, units - other - opaque_units);
  const opaque = opaque_units === 0 ? 0 : OPAQUE_TOKENS_MIN + opaque_units / OPAQUE_UNITS_PER_TOKEN;
  return Math.ceil(plain / 2 + other * 2 + opaque);
}

/** Estimates the usage if the provider does not report it: one token for about four units of input and output. */
export function estimateUsage({ units, opaque_units }: RequestSize, outputUnits: number): WireUsage {
  const tokensIn = (textUnits: number) => Math.ceil(textUnits / UNITS_PER_TOKEN);
  return {
    input_tokens: tokensIn(units - opaque_units) + Math.ceil(opaque_units / OPAQUE_UNITS_PER_TOKEN),
    output_tokens: tokensIn(outputUnits),
    cache_read_tokens: 0,
    cache_write_tokens: 0,
  };
}
