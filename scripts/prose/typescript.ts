import type { TextlintPluginCreator } from '@textlint/kernel';
import { parseSync } from 'oxc-parser';

/** One comment, or one string or template literal of a message. Offsets are UTF-16 units of the file. */
export interface Passage {
  readonly kind: 'comment' | 'message';
  readonly start: number;
  readonly end: number;
  readonly parts: readonly Part[];
}

interface Part {
  readonly type: 'Str' | 'Code';
  readonly start: number;
  readonly end: number;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Three words in a row, the last two of them in lower case. */
const WORDS = /(?:^|\s)[A-Za-z][A-Za-z'’-]*[,;:]?(?:\s+[a-z][a-z'’-]*[,;:.]?){2}/;

/** A word list of a protocol or a detector has none of these. */
const FUNCTION_WORD =
  /\b(?:an?|and|are|as|at|be|by|cannot|could|does|for|from|has|in|is|it|its|no|not|of|on|or|than|that|the|this|to|was|were|which|will|with)\b/i;

/** Comments that are directives of tools. */
const DIRECTIVE = /^\s*(?:@ts-|biome-ignore|#|\/|c8 |<reference)/;

/** Properties, template tags and constructors whose strings are data. */
const DATA = new Set(['examples', 'hits', 'misses', 'refuses', 'accepts', 'sql', 'String.raw', 'RegExp']);

/** Files whose strings are data: labelled rows, texts of benchmarks, the dictionary of this linter. */
const DATA_FILES = /^scripts\/quality\/own\/|^benchmarks\/.*\/texts\.ts$|^scripts\/prose\/terms\.ts$/;

const TEST = /\.test\.ts$|^(?:tests|cases)\/|\/testing\//;
const TEST_CALLS = new Set(['test', 'it', 'describe', 'suite']);

/**
 * Finds the prose of a TypeScript file: comments, and literals that hold a sentence. In a test file, of the literals only
 * titles of tests are prose; the others are input.
 */
export function extractPassages(path: string, text: string): Passage[] {
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`);
  const found: Passage[] = [];
  for (const group of groupComments(comments, text)) found.push(group);
  if (!DATA_FILES.test(path)) collectMessages(program as unknown as Node, text, TEST.test(path), found);
  return found.sort((one, other) => one.start - other.start);
}

type Comment = ReturnType<typeof parseSync>['comments'][number];

/** Makes one passage of line comments that follow each other. */
function* groupComments(comments: readonly Comment[], text: string): Generator<Passage> {
  let lines: Comment[] = [];
  for (const comment of comments) {
    if (DIRECTIVE.test(comment.value)) continue;
    const last = lines.at(-1);
    const follows = last !== undefined && /^\r?\n[ \t]*$/.test(text.slice(last.end, comment.start));
    if (last !== undefined && !(follows && comment.type === 'Line')) {
      yield getPassage(lines, text);
      lines = [];
    }
    if (comment.type === 'Line') lines.push(comment);
    else yield getPassage([comment], text);
  }
  if (lines.length > 0) yield getPassage(lines, text);
}

function getPassage(comments: readonly Comment[], text: string): Passage {
  const [start, end] = [comments[0]!.start, comments.at(-1)!.end];
  const parts: Part[] = [];
  for (const comment of comments) {
    const last = comment.type === 'Block' ? comment.end - 2 : comment.end;
    for (const { index, 0: line } of text.slice(comment.start, last).matchAll(/[^\n]+/g)) {
      const prefix = /^\s*(?:\/\*+|\/\/+|\*)?\s*/.exec(line)![0].length;
      addWords(parts, text, comment.start + index + prefix, comment.start + index + line.length);
    }
  }
  return { kind: 'comment', start, end, parts };
}

/** Adds a piece of text, with what is between back-ticks as code. */
function addWords(parts: Part[], text: string, start: number, end: number): void {
  for (const { index, 0: piece } of text.slice(start, end).matchAll(/`[^`]*`|[^`]+/g)) {
    const type = piece.startsWith('`') ? 'Code' : 'Str';
    parts.push({ type, start: start + index, end: start + index + piece.length });
  }
}

function collectMessages(node: Node, text: string, isTest: boolean, found: Passage[], titled = false): void {
  const parts = collectMessageParts(node, text);
  if (parts !== null) {
    if (titled || !isTest) addMessage(node, text, parts, found);
    return;
  }
  if (isData(node, text)) return;
  const titles = node.type === 'CallExpression' && TEST_CALLS.has(text.slice(...span(node.callee as Node)));
  for (const [field, value] of Object.entries(node)) {
    if (field === 'source') continue;
    for (const [at, child] of (Array.isArray(value) ? value : [value]).entries()) {
      if (typeof child !== 'object' || child === null || typeof child.type !== 'string') continue;
      collectMessages(child as Node, text, isTest, found, titles && field === 'arguments' && at === 0);
    }
  }
}

function addMessage(node: Node, text: string, parts: readonly Part[], found: Passage[]): void {
  const words = parts.map((each) => (each.type === 'Str' ? text.slice(each.start, each.end) : 'x')).join('');
  if (WORDS.test(words) && FUNCTION_WORD.test(words))
    found.push({ kind: 'message', start: node.start, end: node.end, parts });
}

const span = (node: Node): [number, number] => [node.start, node.end];

function isData(node: Node, text: string): boolean {
  const named = { Property: 'key', TaggedTemplateExpression: 'tag', NewExpression: 'callee' }[node.type];
  return named !== undefined && DATA.has(text.slice(...span(node[named] as Node)));
}

/** Returns the words of a literal, or of literals joined by `+`; `null` for any other node. */
function collectMessageParts(node: Node, text: string): Part[] | null {
  if (node.type === 'Literal') {
    return typeof node.value === 'string' ? collectLiteralParts(node.start + 1, node.end - 1, text) : null;
  }
  if (node.type === 'TemplateLiteral') return collectTemplateParts(node, text);
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return null;
  const sides = [node.left as Node, node.right as Node];
  const parts = sides.map((side) => collectMessageParts(side, text));
  if (parts.every((each) => each === null)) return null;
  return sides.flatMap((side, at) => parts[at] ?? [{ type: 'Code', start: side.start, end: side.end }]);
}

function collectLiteralParts(start: number, end: number, text: string): Part[] {
  const parts: Part[] = [];
  addWords(parts, text, start, end);
  return parts;
}

function collectTemplateParts(node: Node, text: string): Part[] {
  const parts: Part[] = (node.expressions as Node[]).map(({ start, end }) => ({ type: 'Code', start, end }));
  for (const { start, end } of node.quasis as Node[]) {
    for (const { index, 0: piece } of text.slice(start, end).matchAll(/\\`[^`]*\\`|(?:[^`\\]|\\[^`])+/g)) {
      const type = piece.startsWith('\\`') ? 'Code' : 'Str';
      parts.push({ type, start: start + index, end: start + index + piece.length });
    }
  }
  return parts.sort((one, other) => one.start - other.start);
}

/** Makes a textlint plugin that reads the given passages as the paragraphs of a document. */
export function createPassagePlugin(passages: readonly Passage[]): TextlintPluginCreator {
  const processor = {
    preProcess: (text: string) => getDocument(text, passages),
    postProcess: (messages: unknown[], path: string) => ({ messages, filePath: path }),
  };
  // textlint calls it with `new`; the object that it returns is then the result.
  function Processor() {
    return { availableExtensions: () => ['.ts'], processor: () => processor };
  }
  return { Processor: Processor as unknown as TextlintPluginCreator['Processor'] };
}

function getDocument(text: string, passages: readonly Passage[]): object {
  const locate = createLocator(text);
  const node = (type: string, start: number, end: number, more: object) => ({
    type,
    range: [start, end],
    loc: { start: locate(start), end: locate(end) },
    raw: text.slice(start, end),
    ...more,
  });
  const children = passages.map(({ start, end, parts }) =>
    node('Paragraph', start, end, {
      children: parts.map((part) =>
        node(part.type, part.start, part.end, { value: text.slice(part.start, part.end) }),
      ),
    }),
  );
  return node('Document', 0, text.length, { children });
}

/** Returns a function from an offset to its line, from 1, and column, from 0. */
function createLocator(text: string): (offset: number) => { line: number; column: number } {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - starts[low]! };
  };
}
