import { randomBytes, timingSafeEqual } from 'node:crypto';
import { hashToken } from '../../runtime/access/tokens.ts';

/** A new token: its id, the token for its bearer, and the hash that is stored. */
export interface NewCapabilityToken {
  readonly token_id: string;
  readonly token: string;
  readonly sha256: string;
}

const TOKEN = /^svc_cap_([0-9a-f]{24})_[A-Za-z0-9_-]{43}$/;

/** Creates a token of 256 random bits: `svc_cap_<digits of its id>_<43 characters>`. */
export function createCapabilityToken(): NewCapabilityToken {
  const digits = randomBytes(12).toString('hex');
  const token = `svc_cap_${digits}_${randomBytes(32).toString('base64url')}`;
  return { token_id: `cap_${digits}`, token, sha256: hashToken(token) };
}

/** Returns the id of a token; `null` if the text does not have the form of a token. */
export function parseTokenId(text: string): string | null {
  const digits = TOKEN.exec(text)?.[1];
  return digits === undefined ? null : `cap_${digits}`;
}

/** Returns whether a token matches a stored hash. Takes constant time. */
export function matchesTokenHash(text: string, sha256: string): boolean {
  const kept = Buffer.from(sha256, 'hex');
  const shown = Buffer.from(hashToken(text), 'hex');
  return kept.length === shown.length && timingSafeEqual(kept, shown);
}
