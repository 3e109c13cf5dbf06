/** Bytes in content, as the protocol has them: base64 beside the type that they say they are of. */

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/** Types whose bytes are no text. SVG is text; any other type may be, and is decoded and judged. */
const BINARY =
  /^(?:image\/(?!svg)|audio\/|video\/|font\/|model\/|application\/(?:pdf|zip|gzip|x-gzip|x-tar|x-bzip2|x-xz|zstd|wasm|octet-stream|msword|vnd\.ms-|vnd\.openxmlformats-|vnd\.rar|x-7z-compressed))/i;

/** How pictures, sound, video, documents and archives begin. */
const MAGIC =
  /^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF|%PDF|PK[\x01-\x08]|\x1f\x8b|OggS|ID3|\xff[\xe0-\xff]|fLaC|\0asm|BM|II\*\0|MM\0\*|\x1aE\xdf\xa3|[\s\S]{4}ftyp|7z\xbc\xaf|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd|Rar!|wOF[F2]|\0\x01\0\0|OTTO|\xd0\xcf\x11\xe0)/;
const MAGIC_BYTES = 16;
/** Bytes of an unknown kind are judged as the letters that they are written in up to this length. */
const PLAIN_UNITS_MAX = 4_096;

/** The text in base64 bytes, and a way to write it back. */
export interface MediaText {
  readonly text: string;
  /** `null`: a changed text cannot be written back. */
  readonly encode: (text: string) => string | null;
}

/**
 * Reads the bytes of a string. `null`: they are media that nobody reads, a picture or sound. Otherwise the text that is
 * to be judged: bytes that do not say that they are binary, or that say so and are plain text all the same. A string that
 * is no base64, or that two decoders could read in two ways, is a text itself.
 */
export function decodeMediaText(value: string, type: unknown): MediaText | null {
  const bytes = decodeBase64(value);
  if (bytes === null) return { text: value, encode: (text) => text };
  const label = findWideLabel(bytes, type);
  const is_text = label !== null || isPlainText(bytes);
  if (!is_text && typeof type === 'string' && BINARY.test(type) && isMedia(bytes, value)) return null;
  const text = new TextDecoder(label ?? 'utf-8', { ignoreBOM: true }).decode(bytes);
  if (is_text) return { text, encode: (changed) => Buffer.from(changed, 'utf8').toString('base64') };
  // Letters that happen to be base64, or bytes of an unknown kind: both are judged, and nothing can be taken out of them.
  return { text: `${value}\n${text}`, encode: () => null };
}

/** Media as they say, by their first bytes; or too long for letters that happen to be base64. */
function isMedia(bytes: Buffer, value: string): boolean {
  return MAGIC.test(bytes.toString('latin1', 0, MAGIC_BYTES)) || value.length > PLAIN_UNITS_MAX;
}

const DATA_URL = /^data:([^,]{0,200}),/i;

/** The same for a `data:` URL in base64; any other string is a text. */
export function decodeDataUrl(value: string): MediaText | null {
  const head = DATA_URL.exec(value);
  if (head === null || !/;base64$/i.test(head[1]!)) return { text: value, encode: (text) => text };
  const inner = decodeMediaText(value.slice(head[0].length), head[1]);
  if (inner === null) return null;
  // What stands before the bytes is judged with them.
  const prefix = head[0];
  return {
    text: `${prefix}${inner.text}`,
    encode: (text) => {
      if (!text.startsWith(prefix)) return null;
      const bytes = inner.encode(text.slice(prefix.length));
      return bytes === null ? null : prefix + bytes;
    },
  };
}

/** The bytes; `null` unless every decoder reads the same: one alphabet or the other, padding at the end, no loose bits. */
function decodeBase64(value: string): Buffer | null {
  const compact = value.replace(/[\r\n]/g, '');
  if (!BASE64.test(compact)) return null;
  const bytes = Buffer.from(compact, 'base64');
  const again = bytes.toString('base64').replace(/=+$/, '');
  return again === compact.replace(/=+$/, '').replace(/-/g, '+').replace(/_/g, '/') ? bytes : null;
}

/** UTF-16, as a mark at the beginning or the type says, or as NULs beside letters do. */
function findWideLabel(bytes: Buffer, type: unknown): 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const charset = typeof type === 'string' ? /charset="?utf-?16(le|be)?/i.exec(type) : null;
  if (charset !== null) return charset[1]?.toLowerCase() === 'be' ? 'utf-16be' : 'utf-16le';
  const head = bytes.subarray(0, WIDE_BYTES).toString('latin1');
  if (/(?:[\x20-\x7e]\0){8}/.test(head)) return 'utf-16le';
  return /(?:\0[\x20-\x7e]){8}/.test(head) ? 'utf-16be' : null;
}

const WIDE_BYTES = 4_096;
// Controls but tabs, line ends and escapes: what has them is no text that anybody reads.
const CONTROL = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/;

function isPlainText(bytes: Buffer): boolean {
  if (bytes.length === 0) return false;
  try {
    return !CONTROL.test(STRICT.decode(bytes));
  } catch {
    return false;
  }
}

const STRICT = new TextDecoder('utf-8', { fatal: true });
