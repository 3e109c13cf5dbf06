/**
 * The state of a UTF-8 decoder between two pieces of a text: the part of the last character that was read.
 */
export interface Utf8Decoder {
  /** The number of bytes that the character still needs. */
  missing: number;
  point: number;
  /**
   * The range of the next byte. It is narrower after some first bytes, which excludes overlong encodings and
   * surrogates.
   */
  low: number;
  high: number;
}

/** Returns a decoder at the beginning of a text. */
export function createUtf8Decoder(): Utf8Decoder {
  return { missing: 0, point: 0, low: 0x80, high: 0xbf };
}

/** Decodes the bytes up to the last complete character; returns `null` if they are not UTF-8 (RFC 3629). */
export function decodeUtf8(reader: Utf8Decoder, bytes: Uint8Array): string | null {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (reader.missing === 0) {
      if (byte < 0x80) {
        const end = findAsciiEnd(bytes, at);
        parts.push(Reflect.apply(String.fromCharCode, null, bytes.subarray(at, end)));
        at = end - 1;
      } else if (!beginCharacter(reader, byte)) return null;
      continue;
    }
    if (byte < reader.low || byte > reader.high) return null;
    reader.point = (reader.point << 6) | (byte & 0x3f);
    reader.low = 0x80;
    reader.high = 0xbf;
    reader.missing -= 1;
    if (reader.missing === 0) parts.push(String.fromCodePoint(reader.point));
  }
  return parts.join('');
}

/** The number of bytes that one call can take as arguments on any stack. */
const RUN_MAX = 4096;

/** Returns the end of the run of ASCII bytes that starts at `from`, at most `RUN_MAX` bytes later. */
function findAsciiEnd(bytes: Uint8Array, from: number): number {
  const most = Math.min(bytes.length, from + RUN_MAX);
  let end = from + 1;
  while (end < most && bytes[end]! < 0x80) end += 1;
  return end;
}

function beginCharacter(reader: Utf8Decoder, byte: number): boolean {
  if (byte < 0xc2 || byte > 0xf4) return false;
  reader.missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
  reader.point = byte & (0x3f >> reader.missing);
  if (byte === 0xe0) reader.low = 0xa0;
  if (byte === 0xf0) reader.low = 0x90;
  if (byte === 0xed) reader.high = 0x9f;
  if (byte === 0xf4) reader.high = 0x8f;
  return true;
}
