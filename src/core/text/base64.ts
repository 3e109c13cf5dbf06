const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * The six bits of each unit, or 255 for units outside both alphabets. `-` and `_` are the URL-safe `+` and `/`.
 */
const BITS = Uint8Array.from({ length: 128 }, (_, unit) => {
  const char = String.fromCharCode(unit).replace('-', '+').replace('_', '/');
  const at = ALPHABET.indexOf(char);
  return at < 0 ? 255 : at;
});

/**
 * Decodes base64 or base64url, padded or not, to one character per byte (Latin-1), so text beyond ASCII stays as
 * its UTF-8 bytes. Returns `null` if the input is neither.
 */
export function decodeBase64(encoded: string): string | null {
  const body = encoded.replace(/={1,2}$/, '');
  if (body.length % 4 === 1) return null;
  let text = '';
  let held = 0;
  let bits = 0;
  for (let at = 0; at < body.length; at++) {
    const six = BITS[body.charCodeAt(at)] ?? 255;
    if (six === 255) return null;
    held = ((held << 6) | six) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    text += String.fromCharCode((held >> bits) & 0xff);
  }
  return text;
}
