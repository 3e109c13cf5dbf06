/** Characters that some readers take for the end of a line, and that JSON does not escape. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** Escapes what a reader may take for the end of a line in a JSON text. The value of the text stays the same. */
export function escapeLineEnds(json: string): string {
  return json.replace(LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
