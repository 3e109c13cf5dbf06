/** Keys and positions from the root of a document. */
export type DocumentPath = readonly (string | number)[];

/** The replacement of a piece of text. The edits of one change are sorted by offset and do not overlap. */
export interface TextEdit {
  readonly offset: number;
  readonly length: number;
  readonly content: string;
}

/** Returns a text with edits applied. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let end = 0;
  const pieces = edits.flatMap(({ offset, length, content }) => {
    const kept = text.slice(end, offset);
    end = offset + length;
    return [kept, content];
  });
  return [...pieces, text.slice(end)].join('');
}

/** Returns the edits that restore the original from the edited text. */
export function invertEdits(text: string, edits: readonly TextEdit[]): readonly TextEdit[] {
  let shift = 0;
  return edits.map(({ offset, length, content }) => {
    const edit = {
      offset: offset + shift,
      length: content.length,
      content: text.slice(offset, offset + length),
    };
    shift += content.length - length;
    return edit;
  });
}
