import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** A master key that can be worked with. Its id tells it from others and tells nothing of it. */
export interface MasterKey {
  /** `mk_` and 16 hex digits. */
  readonly key_id: string;
  readonly secret: KeyObject;
}

/** Whose key it is: every agent of every tenant has one of its own. */
export interface KeyOwner {
  readonly tenant_id: string;
  readonly agent_id: string;
}

const FORMAT = 'agent-safety memory 1';
const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Makes a master key of what a configuration or a file holds. */
export function deriveMasterKey(text: string): MasterKey {
  const secret = createSecretKey(text, 'utf8');
  const id = hkdfSync('sha256', secret, '', `${FORMAT}\nkey id`, KEY_ID_BYTES);
  return { key_id: `mk_${Buffer.from(id).toString('hex')}`, secret };
}

/**
 * Encrypts a text with AES-256-GCM under the agent's own key (HKDF-SHA-256 of the master key): out come nonce, cipher
 * text and tag. `bound` is all that stands beside it in the store; it opens beside exactly that and nothing else.
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

/** What `seal` was given; `null` where the key is another, or anything was changed or moved. */
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
  // JSON keeps the names apart: no two owners have the same text. Hashed, for HKDF takes 1,024 bytes at most.
  const info = `${FORMAT}\nagent key\n${hash('sha256', JSON.stringify([tenant_id, agent_id]))}`;
  return createSecretKey(Buffer.from(hkdfSync('sha256', key.secret, '', info, KEY_BYTES)));
}

function encodeBoundValues({ key_id }: MasterKey, bound: readonly unknown[]): Buffer {
  return Buffer.from(JSON.stringify([FORMAT, key_id, ...bound]));
}
