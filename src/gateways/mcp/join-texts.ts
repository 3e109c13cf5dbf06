/** A text of a result, in the order in which a client shows them. */
export interface JoinedText {
  readonly text: string;
  readonly is_block: boolean;
}

/** Of a long text its beginning and its end are joined to its neighbours: nothing that is found is longer. */
const WINDOW_UNITS = 4_096;
/** Between two JSON values, which are no halves of a text: servers answer a list as one block for each element. */
const APART = '\n\n---\n\n';

/**
 * The texts as they read where a client shows them one behind the other: on lines of their own, and blocks with nothing
 * in between. A key or a sentence that was cut in two is whole in one of them. None for a single text.
 */
export function joinTexts(texts: readonly JoinedText[]): string[] {
  if (texts.length < 2) return [];
  const lines = join(texts, '\n');
  const blocks = texts.filter(({ is_block }) => is_block);
  const joined = blocks.length < 2 ? [lines] : [lines, join(blocks, '')];
  return [...new Set(joined)];
}

function join(texts: readonly JoinedText[], between: string): string {
  let joined = '';
  let was_json = false;
  for (const [at, { text }] of texts.entries()) {
    const is_json = JSON_VALUE.test(text);
    if (at > 0) joined += is_json && was_json ? APART : between;
    joined += cutWindow(text);
    was_json = is_json;
  }
  return joined;
}

/** A number, a word of JSON or the beginning of a container. */
const JSON_VALUE = /^\s*(?:-?\d[\d.eE+-]*\s*$|(?:true|false|null)\s*$|[[{])/;

function cutWindow(text: string): string {
  if (text.length <= 2 * WINDOW_UNITS) return text;
  return `${text.slice(0, WINDOW_UNITS)}${APART}${text.slice(-WINDOW_UNITS)}`;
}
