/**
 * Defines the few globals that the packages in `core` expect and a bare V8 does not have. It must be imported first.
 * Globals that exist are kept. `new` on these functions returns the record that they return.
 */

/** Returns the part of `URL` that resolves local references of JSON Schema: `#/$defs/name` against a base address. */
function createReferenceUrl(reference: string, base = ''): { hash: string; readonly href: string } {
  const at = reference.indexOf('#');
  const own = at < 0 ? reference : reference.slice(0, at);
  const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(own);
  if (own !== '' && !isAbsolute) throw new TypeError('only local references are supported');
  const address = own === '' ? (base.split('#', 1)[0] ?? '') : own;
  return {
    hash: at < 0 ? '' : reference.slice(at),
    get href() {
      return address + (this.hash === '#' ? '' : this.hash);
    },
  };
}

/** Returns `TextEncoder`: the bytes of a text as UTF-8. A lone surrogate becomes U+FFFD. */
function createUtf8Encoder() {
  return {
    encode: (text: string): Uint8Array => {
      const ascii = new Uint8Array(text.length);
      for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at);
        if (unit >= 0x80) return encodeWide(text);
        ascii[at] = unit;
      }
      return ascii;
    },
  };
}

function encodeWide(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text.toWellFormed()) pushUtf8(bytes, character.codePointAt(0)!);
  return Uint8Array.from(bytes);
}

function pushUtf8(bytes: number[], point: number): void {
  const tail = (shift: number): number => 0x80 | ((point >> shift) & 63);
  if (point < 0x80) bytes.push(point);
  else if (point < 0x800) bytes.push(0xc0 | (point >> 6), tail(0));
  else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), tail(6), tail(0));
  else bytes.push(0xf0 | (point >> 18), tail(12), tail(6), tail(0));
}

/** Conditions have no bytes, so nothing is ever decoded. */
function createNoDecoder() {
  return {
    decode: (): never => {
      throw new TypeError('bytes are not supported');
    },
  };
}

const MISSING = { URL: createReferenceUrl, TextEncoder: createUtf8Encoder, TextDecoder: createNoDecoder };
for (const [name, value] of Object.entries(MISSING)) {
  if (!(name in globalThis))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
