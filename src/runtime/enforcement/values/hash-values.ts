import { hash, hkdfSync } from 'node:crypto';
import { EARLIER_NAME } from '../../../core/names.ts';
import type { ValuesSeen } from '../../../core/types/index.ts';

/**
 * Returns one session's hash function: 64 bits of SHA-256 over the session's key and the value. The key is as long as a
 * block, and most of the digest is left out, so that nothing can be appended to a hashed value.
 */
export function openValueHash(sessionKey: string): ValuesSeen['hashValue'] {
  return (form, text) => {
    // A lone surrogate has no UTF-8, and all would be one character.
    const isText = text.isWellFormed();
    const shown = isText ? text : Buffer.from(text, 'utf16le').toString('base64');
    return hash('sha256', `${sessionKey}${form}${isText ? '' : ' utf-16'}\n${shown}`, 'hex').slice(
      0,
      HEX_DIGITS,
    );
  };
}

const HEX_DIGITS = 16;
const KEY_BYTES = 32;

/** Derives one session's key, as hex. */
export function deriveSessionKey(secret: string, session: readonly string[]): string {
  // Hashed first, because HKDF takes no more than a kilobyte.
  const info = `${EARLIER_NAME} values seen 1\n${hash('sha256', JSON.stringify(session), 'hex')}`;
  return Buffer.from(hkdfSync('sha256', secret, '', info, KEY_BYTES)).toString('hex');
}
