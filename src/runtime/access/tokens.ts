import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnFileSync } from '../../platform/files/own-file.ts';
import { restrictMode, writePrivateFile } from '../../platform/files/private-file.ts';

/**
 * The credentials that the service creates. `operator`: a person who decides and changes. `agent`: callers from
 * other machines if no other authentication is configured.
 */
export type TokenKind = 'operator' | 'agent';

const TOKEN = /^svc_(?:operator|agent|key)_[A-Za-z0-9_-]{43}$/;

const CREDENTIAL = /svc_(?:operator|agent|key|cap|link)_[A-Za-z0-9_-]{20}/i;

/** Returns whether a text contains a credential of this service, which must not reach another one. */
export function containsServiceCredential(text: string): boolean {
  return CREDENTIAL.test(text);
}

/** Returns the path of a token in a state folder. */
export function getTokenPath(stateDir: string, kind: TokenKind): string {
  return join(stateDir, `${kind}-token`);
}

/** Reads the token from the state folder; `null` if the file is missing or holds something else. */
export function readToken(stateDir: string, kind: TokenKind): string | null {
  try {
    const token = readOwnFileSync(getTokenPath(stateDir, kind)).trim();
    return TOKEN.test(token) && token.startsWith(`svc_${kind}_`) ? token : null;
  } catch {
    return null;
  }
}

/** Returns whether a credential is the operator token of a state folder. Compares in constant time. */
export function isOperatorToken(credential: string, stateDir: string): boolean {
  const kept = readToken(stateDir, 'operator');
  const [given, expected] = [credential, kept ?? ''].map((each) => Buffer.from(hashToken(each), 'hex'));
  return timingSafeEqual(given!, expected!) && kept !== null;
}

/**
 * Returns the token from the state folder, and creates it (mode 0600) if it is missing. Two processes that
 * start together agree on one.
 */
export function ensureToken(stateDir: string, kind: TokenKind): { token: string; created: boolean } {
  const present = readToken(stateDir, kind);
  if (present !== null) {
    restrictMode(getTokenPath(stateDir, kind));
    return { token: present, created: false };
  }
  const token = createToken(kind);
  const path = getTokenPath(stateDir, kind);
  // A file that holds no token is replaced.
  if (readToken(stateDir, kind) === null) rmSync(path, { force: true });
  const created = writePrivateFile(path, token, 'keep');
  return { token: created ? token : (readToken(stateDir, kind) ?? token), created };
}

/** Replaces the token. The old one is refused within a second, without a restart. */
export function rotateToken(stateDir: string, kind: TokenKind): string {
  const token = createToken(kind);
  writePrivateFile(getTokenPath(stateDir, kind), token, 'replace');
  return token;
}

/** Creates an API key: the key, which is shown once, and its entry for the configuration. */
export function createApiKey(id: string): { key: string; entry: { id: string; sha256: string } } {
  const key = createToken('key');
  return { key, entry: { id, sha256: hashToken(key) } };
}

/** Returns 64 hex digits. Tokens hold 256 random bits, so a plain hash cannot be reversed by guessing. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

function createToken(kind: TokenKind | 'key'): string {
  return `svc_${kind}_${randomBytes(32).toString('base64url')}`;
}
