/** Bytes that encode readable text. The decoders of blobs and of escapes share these functions. */

/** Fewer bytes are too few for any value that a detector finds. */
export const TEXT_BYTES_MIN = 8;

/** Encoded text inside a text: the units from `start` to `end` are an encoded form of `text`. */
export interface Blob {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Returns the value of a unit as a base16 digit; `NaN` if it is not a digit. */
export function parseHexDigit(unit: number): number {
  if (unit >= 48 && unit <= 57) return unit - 48;
  const letter = unit | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : Number.NaN;
}

/**
 * Returns the number of bytes that a character still needs after this one; below 0 if the bytes are not
 * readable UTF-8.
 */
export function countMissingBytes(more: number, byte: number): number {
  if (more > 0) return (byte & 0xc0) === 0x80 ? more - 1 : -1;
  if (byte < 0x80) return (byte >= 32 && byte !== 127) || byte === 9 || byte === 10 || byte === 13 ? 0 : -1;
  if (byte < 0xc2 || byte > 0xf4) return -1;
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
}

/** Returns a blob of the bytes; `null` if they are too few or are not UTF-8. The last character may be cut off. */
export function createBlob(
  bytes: readonly number[],
  start: number,
  end: number,
  bytesMin = TEXT_BYTES_MIN,
): Blob | null {
  const decoded = bytes.length < bytesMin ? null : decodeUtf8Bytes(bytes, true);
  return decoded === null ? null : { start, end, text: decoded };
}

/**
 * Decodes UTF-8 bytes; returns `null` if they are invalid. With `mayEnd`, the last character may be cut off.
 */
export function decodeUtf8Bytes(bytes: readonly number[], mayEnd = false): string | null {
  const points: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at]!;
    const more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4)) return null;
    if (at + more >= bytes.length) return mayEnd ? points.join('') : null;
    let point = more === 0 ? lead : lead & (0x3f >> more);
    for (let next = at + 1; next <= at + more; next++) {
      if ((bytes[next]! & 0xc0) !== 0x80) return null;
      point = (point << 6) | (bytes[next]! & 0x3f);
    }
    if (point > 0x10ffff) return null;
    points.push(String.fromCodePoint(point));
    at += more + 1;
  }
  return points.join('');
}
