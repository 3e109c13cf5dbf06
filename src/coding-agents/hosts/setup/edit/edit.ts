/** Keys and positions from the root of a document. */
export type Path = readonly (string | number)[];

/** A piece of a text in place of another. Those of one change do not overlap, and stand in the order of the text. */
export interface Edit {
  readonly offset: number;
  readonly length: number;
  readonly content: string;
}

/** A text with edits made, which stand in its order. */
export function applied(text: string, edits: readonly Edit[]): string {
  let end = 0;
  const pieces = edits.flatMap(({ offset, length, content }) => {
    const kept = text.slice(end, offset);
    end = offset + length;
    return [kept, content];
  });
  return [...pieces, text.slice(end)].join('');
}

/** What takes edits back, in the text that they have made. */
export function inverse(text: string, edits: readonly Edit[]): readonly Edit[] {
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
