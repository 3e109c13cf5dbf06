import type { WireRequest, WireUsage } from '../../core/wire/wire-format.ts';

/** UTF-16 units of an ordinary text for one token, in the tokenizers of today's models. */
const UNITS_PER_TOKEN = 4;
/** Units of the base64 of a picture or a file that are at least one token, and what one costs however small it is. */
const OPAQUE_UNITS_PER_TOKEN = 32;
const OPAQUE_TOKENS_MIN = 3_000;

/** How large a request is. */
export interface RequestSize {
  readonly units: number;
  readonly bytes: number;
  readonly opaque_units: number;
  /** Whether it may ask the provider's cache to keep something for an hour. */
  readonly may_cache_1h: boolean;
}

/** Measures a body: its text, its bytes, and what of it is no text. */
export function measureRequest(text: string, bytes: Uint8Array, { opaque_units }: WireRequest): RequestSize {
  // However the member is called, and wherever it stands: a text that says so too is put aside for more dearly, no more.
  const may_cache_1h = text.includes('"1h"');
  return { units: text.length, bytes: bytes.length, opaque_units, may_cache_1h };
}

/** More tokens than a request is likely to be, for putting money aside. Every unit beyond ASCII has bytes beyond units. */
export function estimateMaxInputTokens({ units, bytes, opaque_units }: RequestSize): number {
  const other = bytes - units;
  const plain = Math.max(0, units - other - opaque_units);
  const opaque = opaque_units === 0 ? 0 : OPAQUE_TOKENS_MIN + opaque_units / OPAQUE_UNITS_PER_TOKEN;
  return Math.ceil(plain / 2 + other * 2 + opaque);
}

/** What a call came to where the provider did not say: about one token for four units of what went in and came out. */
export function estimateUsage({ units, opaque_units }: RequestSize, output_units: number): WireUsage {
  const tokensIn = (text_units: number) => Math.ceil(text_units / UNITS_PER_TOKEN);
  return {
    input_tokens: tokensIn(units - opaque_units) + Math.ceil(opaque_units / OPAQUE_UNITS_PER_TOKEN),
    output_tokens: tokensIn(output_units),
    cache_read_tokens: 0,
    cache_write_tokens: 0,
  };
}
