import { encodeColumnText } from './text-encoding.ts';

/** Object IDs of element types, which never change. */
const TEXT_OID = 25;
const INT8_OID = 20;
/** The number of dimensions, whether an element is null, the element type, the length and the first index. */
const HEADER_BYTES = 20;
const NULL_LENGTH = -1;

/**
 * Encodes texts as a value of type `text[]` in PostgreSQL's binary format, in which no text is quoted or searched for
 * quotes. The driver sends a buffer as it is. Texts are encoded as in other statements.
 */
export function encodeTextArray(values: readonly (string | null)[]): Buffer {
  const texts = values.map((value) => (value === null ? null : encodeColumnText(value)));
  const lengths = texts.map((text) => (text === null ? NULL_LENGTH : Buffer.byteLength(text)));
  const bytes = lengths.reduce((sum, length) => sum + 4 + Math.max(0, length), HEADER_BYTES);
  const buffer = Buffer.allocUnsafe(bytes);
  let at = writeHeader(buffer, TEXT_OID, values.length);
  for (const [index, text] of texts.entries()) {
    at = buffer.writeInt32BE(lengths[index]!, at);
    if (text !== null) at += buffer.write(text, at);
  }
  return buffer;
}

/** Encodes whole numbers as a value of type `bigint[]`. */
export function encodeNumberArray(values: readonly number[]): Buffer {
  const NUMBER_BYTES = 8;
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + values.length * (4 + NUMBER_BYTES));
  let at = writeHeader(buffer, INT8_OID, values.length);
  for (const value of values) {
    at = buffer.writeInt32BE(NUMBER_BYTES, at);
    at = buffer.writeBigInt64BE(BigInt(value), at);
  }
  return buffer;
}

function writeHeader(buffer: Buffer, oid: number, length: number): number {
  const [dimensions, hasNulls, firstIndex] = [1, 1, 1];
  return [dimensions, hasNulls, oid, length, firstIndex].reduce(
    (at, word) => buffer.writeInt32BE(word, at),
    0,
  );
}
