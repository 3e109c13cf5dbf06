import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { EARLIER_NAME } from '../../core/names.ts';

/** A master key that is ready for use. Its id distinguishes it from other keys and reveals nothing about the secret. */
export interface MasterKey {
  /** `mk_` and 16 hex digits. */
  readonly key_id: string;
  readonly secret: KeyObject;
}

/** The agent of a tenant that a key belongs to. Every agent has its own key. */
export interface KeyOwner {
  readonly tenant_id: string;
  readonly agent_id: string;
}

const FORMAT = `${EARLIER_NAME} memory 1`;
const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Derives a master key from the text in a configuration or a key file. */
export function deriveMasterKey(text: string): MasterKey {
  const secret = createSecretKey(text, 'utf8');
  const id = hkdfSync('sha256', secret, '', `${FORMAT}\nkey id`, KEY_ID_BYTES);
  return { key_id: `mk_${Buffer.from(id).toString('hex')}`, secret };
}

/**
 * Encrypts a text with AES-256-GCM under the agent's own key (HKDF-SHA-256 of the master key) and returns nonce, cipher
 * text and tag. `bound` holds the other columns of the row as authenticated data: the text can be decrypted only with
 * exactly these values.
 */
export function encryptValue(
  text: string,
  owner: KeyOwner,
  bound: readonly unknown[],
  key: MasterKey,
): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', deriveAgentKey(key, owner), nonce, {
    authTagLength: TAG_BYTES,
  });
  cipher.setAAD(encodeBoundValues(key, bound));
  const sealed = cipher.update(text, 'utf8');
  return Buffer.concat([nonce, sealed, cipher.final(), cipher.getAuthTag()]);
}

/** Returns the text that `encryptValue` encrypted; `null` if the key differs, or if any part was changed or moved. */
export function decryptValue(
  sealed: Uint8Array,
  owner: KeyOwner,
  bound: readonly unknown[],
  key: MasterKey,
): string | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  const end = sealed.length - TAG_BYTES;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', deriveAgentKey(key, owner), nonce, {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(encodeBoundValues(key, bound));
  decipher.setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()]).toString(
      'utf8',
    );
  } catch {
    return null;
  }
}

function deriveAgentKey(key: MasterKey, { tenant_id, agent_id }: KeyOwner): KeyObject {
  // JSON separates the names, so no two owners have the same text. It is hashed because HKDF limits `info` to 1,024
  // bytes.
  const info = `${FORMAT}\nagent key\n${hash('sha256', JSON.stringify([tenant_id, agent_id]))}`;
  return createSecretKey(Buffer.from(hkdfSync('sha256', key.secret, '', info, KEY_BYTES)));
}

function encodeBoundValues({ key_id }: MasterKey, bound: readonly unknown[]): Buffer {
  return Buffer.from(JSON.stringify([FORMAT, key_id, ...bound]));
}
