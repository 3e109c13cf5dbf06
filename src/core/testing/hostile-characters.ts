/** Characters with which a name could forge a line, a field or its own direction in a channel. */

/** The ranges of characters that no reader shows, or that move what is shown: first and last code point. */
const RANGES: readonly (readonly [number, number])[] = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe01ef],
];

/** Lists the characters that must not appear in a line for people. */
export function listHiddenCharacters(): readonly string[] {
  return RANGES.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at)),
  );
}

/** Delimiters of the formats that channels write: JSON, CSV, YAML, Markdown, HTML, shells, tables, logs. */
export const DELIMITERS: readonly string[] = [
  ...'"\'`,;:|/\\()[]{}<>=&#*_~!?$%@+- ',
  // Blanks with which a text imitates columns.
  ...[
    '  ',
    '\u00a0\u00a0',
    '\u2003\u2003',
    '\u3000\u3000',
    '\t\t',
    '---',
    '...',
    '```',
    '\r\n',
    ']]>',
    '-->',
    '*/',
    '%{x}',
    '$(x)',
    '=1+1',
    '+1',
    '@x',
  ],
];

/** Lists names that contain one hidden character or delimiter each: at the start, inside and at the end. */
export function listHostileNames(): readonly string[] {
  return [...listHiddenCharacters(), ...DELIMITERS].flatMap((each) => [`${each}x`, `x${each}y`, `x${each}`]);
}
