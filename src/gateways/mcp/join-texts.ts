/** A text of a result, in the order in which a client shows it. */
export interface JoinedText {
  readonly text: string;
  readonly is_block: boolean;
}

/**
 * The length of the start and end of a long text that are joined to its neighbours, in UTF-16 units. No finding is
 * longer.
 */
const WINDOW_UNITS = 4_096;
/**
 * The separator between JSON values. They are not halves of a text: servers return a list as one block per element.
 */
const APART = '\n\n---\n\n';

/**
 * Returns the joined texts as a client may show them: all texts on separate lines, and the blocks without separators.
 * A secret or sentence that is split over texts is complete in one of them. Returns nothing for a single text.
 */
export function joinTexts(texts: readonly JoinedText[]): string[] {
  if (texts.length < 2) return [];
  const lines = joinPlaced(texts, '\n');
  const blocks = texts.filter(({ is_block }) => is_block);
  const joined = blocks.length < 2 ? [lines] : [lines, joinPlaced(blocks, '')];
  return [...new Set(joined)];
}

function joinPlaced(texts: readonly JoinedText[], between: string): string {
  let joined = '';
  let wasJson = false;
  for (const [at, { text }] of texts.entries()) {
    const isJson = JSON_VALUE.test(text);
    if (at > 0) joined += isJson && wasJson ? APART : between;
    joined += cutWindow(text);
    wasJson = isJson;
  }
  return joined;
}

/** Matches a number, a JSON literal or the start of a container. */
const JSON_VALUE = /^\s*(?:-?\d[\d.eE+-]*\s*$|(?:true|false|null)\s*$|[[{])/;

function cutWindow(text: string): string {
  if (text.length <= 2 * WINDOW_UNITS) return text;
  return `${text.slice(0, WINDOW_UNITS)}${APART}${text.slice(-WINDOW_UNITS)}`;
}
