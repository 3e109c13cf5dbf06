/**
 * Characters that people do not see, or that a terminal obeys: controls, separators of lines, marks of direction,
 * characters without width or glyph, annotations, tags and lone surrogates.
 */
const UNPRINTABLE =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb\u{13430}-\u{13455}]/gu;

/** Replaces each such character. */
export function replaceUnprintable(text: string, replace: (character: string) => string): string {
  return text.replace(UNPRINTABLE, replace);
}

/** Shows such characters as escapes of JSON strings, `\u001b`, so that a JSON text keeps its value. */
export function escapeUnprintable(text: string, kept = ''): string {
  return replaceUnprintable(text, (character) =>
    kept.includes(character) ? character : character.split('').map(escapeUnit).join(''),
  );
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
