import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { restrictMode, writePrivateFile } from '../../platform/files/private-file.ts';

/**
 * The credentials that the service makes itself. `operator`: a person, who decides and changes. `agent`: whoever
 * calls from elsewhere, where no other authentication is configured.
 */
export type TokenKind = 'operator' | 'agent';

const TOKEN = /^svc_(?:operator|agent|key)_[A-Za-z0-9_-]{43}$/;

/** Where a token of this kind lies in a state folder. */
export function tokenPath(state_dir: string, kind: TokenKind): string {
  return join(state_dir, `${kind}-token`);
}

/** The token in the state folder, or `null` when there is none or the file holds something else. */
export function readToken(state_dir: string, kind: TokenKind): string | null {
  try {
    const token = readFileSync(tokenPath(state_dir, kind), 'utf8').trim();
    return TOKEN.test(token) && token.startsWith(`svc_${kind}_`) ? token : null;
  } catch {
    return null;
  }
}

/** The token in the state folder; the first call makes it (mode 0600). Two starts at once agree on one. */
export function ensureToken(state_dir: string, kind: TokenKind): { token: string; created: boolean } {
  const present = readToken(state_dir, kind);
  if (present !== null) {
    restrictMode(tokenPath(state_dir, kind));
    return { token: present, created: false };
  }
  const token = newToken(kind);
  const path = tokenPath(state_dir, kind);
  // What is there and is no token is in the way.
  if (readToken(state_dir, kind) === null) rmSync(path, { force: true });
  const created = writePrivateFile(path, token, 'keep');
  return { token: created ? token : (readToken(state_dir, kind) ?? token), created };
}

/** Replaces the token. The old one is refused from the next second on, without a restart. */
export function rotateToken(state_dir: string, kind: TokenKind): string {
  const token = newToken(kind);
  writePrivateFile(tokenPath(state_dir, kind), token, 'replace');
  return token;
}

/** A new API key, to be shown once, and what the configuration holds of it. */
export function createApiKey(id: string): { key: string; entry: { id: string; sha256: string } } {
  const key = newToken('key');
  return { key, entry: { id, sha256: hashToken(key) } };
}

/** 64 hex digits. The keys hold 256 random bits, so a plain hash cannot be guessed backwards. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

function newToken(kind: TokenKind | 'key'): string {
  return `svc_${kind}_${randomBytes(32).toString('base64url')}`;
}
