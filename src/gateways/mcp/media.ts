/** Bytes in MCP content: base64 with a declared media type. */

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/**
 * Media types whose bytes are not text. SVG is text. Bytes of any other type may be text, so they are decoded and
 * judged.
 */
const BINARY =
  /^(?:image\/(?!svg)|audio\/|video\/|font\/|model\/|application\/(?:pdf|zip|gzip|x-gzip|x-tar|x-bzip2|x-xz|zstd|wasm|octet-stream|msword|vnd\.ms-|vnd\.openxmlformats-|vnd\.rar|x-7z-compressed))/i;

/** The first bytes of images, audio, video, documents and archives. */
const MAGIC =
  /^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF|%PDF|PK[\x01-\x08]|\x1f\x8b|OggS|ID3|\xff[\xe0-\xff]|fLaC|\0asm|BM|II\*\0|MM\0\*|\x1aE\xdf\xa3|[\s\S]{4}ftyp|7z\xbc\xaf|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd|Rar!|wOF[F2]|\0\x01\0\0|OTTO|\xd0\xcf\x11\xe0)/;
const MAGIC_BYTES = 16;
/** The maximum length up to which bytes of an unknown kind are judged as their base64 letters, in UTF-16 units. */
const PLAIN_UNITS_MAX = 4_096;

/** The text in base64 bytes, and its encoder. */
export interface MediaText {
  readonly text: string;
  /** Returns `null` if a changed text cannot be encoded. */
  readonly encode: (text: string) => string | null;
}

/**
 * Decodes the bytes of a string. Returns `null` for binary media such as images and sound. Otherwise returns the text
 * to judge: of bytes that are not declared binary, or that are declared binary but are plain text. A string that is
 * not base64, or that two decoders could decode differently, is a text itself.
 */
export function decodeMediaText(value: string, type: unknown): MediaText | null {
  const bytes = decodeBase64(value);
  if (bytes === null) return { text: value, encode: (text) => text };
  const label = findWideLabel(bytes, type);
  const isText = label !== null || isPlainText(bytes);
  if (!isText && typeof type === 'string' && BINARY.test(type) && isMedia(bytes, value)) return null;
  const text = new TextDecoder(label ?? 'utf-8', { ignoreBOM: true }).decode(bytes);
  if (isText) return { text, encode: (changed) => Buffer.from(changed, 'utf8').toString('base64') };
  // Letters that look like base64, or bytes of an unknown kind: both forms are judged, and neither can be redacted.
  return { text: `${value}\n${text}`, encode: () => null };
}

/**
 * Returns whether bytes are media: by their first bytes, or because they are too long for letters that look like
 * base64.
 */
function isMedia(bytes: Buffer, value: string): boolean {
  return MAGIC.test(bytes.toString('latin1', 0, MAGIC_BYTES)) || value.length > PLAIN_UNITS_MAX;
}

const DATA_URL = /^data:([^,]{0,200}),/i;

/** Decodes a base64 `data:` URL in the same way; any other string is a text. */
export function decodeDataUrl(value: string): MediaText | null {
  const head = DATA_URL.exec(value);
  if (head === null || !/;base64$/i.test(head[1]!)) return { text: value, encode: (text) => text };
  const inner = decodeMediaText(value.slice(head[0].length), head[1]);
  if (inner === null) return null;
  // The prefix of the URL is judged with the bytes.
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

/**
 * Returns the bytes; `null` unless every decoder returns the same ones: one alphabet, padding at the end, no excess
 * bits.
 */
function decodeBase64(value: string): Buffer | null {
  const compact = value.replace(/[\r\n]/g, '');
  if (!BASE64.test(compact)) return null;
  const bytes = Buffer.from(compact, 'base64');
  const again = bytes.toString('base64').replace(/=+$/, '');
  return again === compact.replace(/=+$/, '').replace(/-/g, '+').replace(/_/g, '/') ? bytes : null;
}

/** Returns the UTF-16 variant, by byte order mark, declared charset or NULs next to letters. */
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
// Control characters except tabs, line ends and escapes. Readable text contains none of them.
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
