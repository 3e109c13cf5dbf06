import { addDecoded, addPlain, finishView, startView, type View } from './view.ts';

const ESCAPE = /\\(?:u[0-9A-Fa-f]{4}|.)/g;

/** Builds the view of a JSON string between its quotes. The text of the view is that of `decodeLeaf`. */
export function viewJsonString(text: string, start: number, end: number): View {
  const builder = startView();
  let plainFrom = start;
  ESCAPE.lastIndex = start;
  for (let found = ESCAPE.exec(text); found !== null && found.index < end; found = ESCAPE.exec(text)) {
    addPlain(builder, text, plainFrom, found.index);
    plainFrom = ESCAPE.lastIndex;
    addDecoded(builder, decodeEscape(found[0]), found.index, plainFrom);
  }
  addPlain(builder, text, plainFrom, end);
  return finishView(builder);
}

const LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }),
);

function decodeEscape(written: string): string {
  const letter = written[1]!;
  if (written.length > 2) return String.fromCharCode(Number.parseInt(written.slice(2), 16));
  return LETTERS.get(letter) ?? letter;
}
