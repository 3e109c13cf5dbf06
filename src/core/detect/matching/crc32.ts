/** Remainders of the 256 bytes for the ISO-HDLC polynomial (zip, PNG), lowest bit first. */
const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

/** Returns the CRC-32 (ISO-HDLC) of ASCII text, as an unsigned number. */
export function computeCrc32(text: string): number {
  let rest = -1;
  for (let at = 0; at < text.length; at++) rest = (rest >>> 8) ^ TABLE[(rest ^ text.charCodeAt(at)) & 0xff]!;
  return ~rest >>> 0;
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Writes a number below 2^32 in base 62, digits before capitals before small letters, padded with zeros. */
export function encodeBase62(number: number, width: number): string {
  let digits = '';
  for (let rest = number; rest > 0; rest = Math.floor(rest / 62)) digits = DIGITS[rest % 62]! + digits;
  return digits.padStart(width, '0');
}
