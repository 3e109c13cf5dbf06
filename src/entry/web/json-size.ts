const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const OBJECT = 0x7b;

/**
 * Returns whether a JSON text has more than `nodesMax` keys and values. `JSON.parse` cannot be interrupted, and
 * takes a second for a million keys; counting takes a twentieth of that. Text that is no JSON may count as anything.
 */
export function hasMoreNodes(bytes: Uint8Array, nodesMax: number): boolean {
  // A node is two bytes at least: `0,`.
  if (bytes.length <= nodesMax * 2) return false;
  let nodes = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = findStringEnd(bytes, at + 1);
    else if (byte === COMMA || byte === COLON || byte === ARRAY || byte === OBJECT) nodes += 1;
  }
  return nodes > nodesMax;
}

function findStringEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
