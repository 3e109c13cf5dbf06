import { createHmac, hkdfSync } from 'node:crypto';
import type { Json } from '../core/types/index.ts';

/** Hashes a value at a place, such as one argument. Equal values have equal `written` forms, and no others do. */
export type PlaceHash = (place: string, written: Json) => string;

const KEY_BYTES = 32;

/** Opens a keyed hash function for one purpose, which `info` names. `secret` is the service’s fingerprint key. */
export function openPlaceHash(secret: string, info: string): PlaceHash {
  const key = Buffer.from(hkdfSync('sha256', secret, '', info, KEY_BYTES));
  return (place, written) =>
    createHmac('sha256', key)
      .update(JSON.stringify([place, written]))
      .digest('base64url');
}
