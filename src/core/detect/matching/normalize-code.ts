/** Returns a written number in capitals, without separators between its groups. */
export function normalizeCode(written: string): string {
  return written.toUpperCase().replace(/[ ./-]/g, '');
}
