import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { join } from 'node:path';
import { EARLIER_NAME } from '../../core/names.ts';
import { readOwnFileSync } from '../../platform/files/own-file.ts';
import { restrictMode, writePrivateFile } from '../../platform/files/private-file.ts';
import { Unavailable } from '../../platform/unavailable.ts';

/** The location of the key that encrypts secrets of authenticator apps. */
export interface TotpKeyPlace {
  readonly state_dir: string;
  /** `auth.sign_in.totp_key`; `null` for the key in the state folder. */
  readonly key: string | null;
}

const FILE_KEY = /^[A-Za-z0-9_-]{43}$/;
/** The version of the encryption. */
const PREFIX = 'v1.';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts the secret of a user's app for the store. Creates the key in the state folder if there is none. */
export function sealTotpSecret(place: TotpKeyPlace, userId: string, secret: string): string {
  const key = deriveKey(readKey(place) ?? createKey(place.state_dir));
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(userId, 'utf8'));
  const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${PREFIX}${sealed.toString('base64url')}`;
}

/**
 * Decrypts the stored secret of a user's app.
 *
 * @throws Unavailable if the secret is not encrypted, or its key is missing or another one
 */
export function openTotpSecret(place: TotpKeyPlace, userId: string, stored: string): string {
  try {
    const bytes = Buffer.from(stored.slice(PREFIX.length), 'base64url');
    const decipher = createDecipheriv(
      'aes-256-gcm',
      deriveKey(readKey(place) ?? ''),
      bytes.subarray(0, NONCE_BYTES),
    )
      .setAAD(Buffer.from(userId, 'utf8'))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    return text.toString('utf8');
  } catch (fault) {
    throw new Unavailable(
      'The secret of the authenticator app cannot be decrypted. Restore `totp-key` in the state folder or `auth.sign_in.totp_key`, or run `customshouse users reset`.',
      fault,
    );
  }
}

function deriveKey(key: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `${EARLIER_NAME} totp seal 1`, 32)));
}

function getKeyPath(stateDir: string): string {
  return join(stateDir, 'totp-key');
}

function createKey(stateDir: string): string {
  const path = getKeyPath(stateDir);
  // Another process may create it at the same time, so the file decides.
  writePrivateFile(path, randomBytes(32).toString('base64url'), 'keep');
  const key = readKey({ state_dir: stateDir, key: null });
  if (key === null)
    throw new Unavailable('The file `totp-key` in the state folder is not a key, or cannot be read.', null);
  return key;
}

function readKey({ state_dir, key }: TotpKeyPlace): string | null {
  if (key !== null) return key;
  const path = getKeyPath(state_dir);
  try {
    const text = readOwnFileSync(path).trim();
    restrictMode(path);
    return FILE_KEY.test(text) ? text : null;
  } catch {
    return null;
  }
}
