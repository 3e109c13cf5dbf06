/** A number in capitals and without what people write between its groups. */
export function codeOf(written: string): string {
  return written.toUpperCase().replace(/[ ./-]/g, '');
}
