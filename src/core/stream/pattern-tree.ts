/** A pattern as a tree. The tree holds only what decides which units the pattern can examine. */
export type PatternNode =
  /** One unit, by the source of its class or escape. */
  | { readonly kind: 'unit'; readonly source: string }
  | { readonly kind: 'sequence' | 'choice'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly item: PatternNode; readonly least: number; readonly most: number }
  /** The `value` group, which narrows the finding. */
  | { readonly kind: 'value'; readonly item: PatternNode }
  /** A lookahead, which consumes nothing. It is negative if `is_refused`. */
  | { readonly kind: 'ahead'; readonly item: PatternNode; readonly is_refused: boolean }
  /** A lookbehind; `source` includes its parentheses. */
  | { readonly kind: 'behind'; readonly source: string }
  /** `\b`, `\B` or `$`: they examine the next unit, or whether there is one. */
  | { readonly kind: 'edge' }
  /** A back reference to a group. */
  | { readonly kind: 'again' };

/** Parses a pattern that has neither the flag `u` nor `v`. */
export function parsePatternNode({ source }: RegExp): PatternNode {
  return readChoice({ source, at: 0 });
}

/**
 * Returns the maximum number of units from its start that an attempt can examine, lookaheads included. It is
 * infinite if there is no bound.
 */
export function countUnitsMax(node: PatternNode): number {
  switch (node.kind) {
    case 'unit':
    case 'edge':
      return 1;
    case 'again':
      return AGAIN_UNITS_MAX;
    case 'behind':
      return 0;
    case 'value':
    case 'ahead':
      return countUnitsMax(node.item);
    case 'repeat':
      return node.most === 0 ? 0 : countUnitsMax(node.item) * node.most;
    case 'choice':
      return Math.max(0, ...node.items.map(countUnitsMax));
    default:
      return node.items.reduce((sum, item) => sum + countUnitsMax(item), 0);
  }
}

/** Returns the classes of a tree that is one plain sequence of units; `null` for any other tree. */
export function listUnitClasses(node: PatternNode): readonly string[] | null {
  if (node.kind === 'unit') return [node.source];
  if (node.kind === 'repeat' && node.least === node.most && node.most <= ROW_UNITS_MAX) {
    const row = listUnitClasses(node.item);
    return row === null ? null : Array.from({ length: node.most }, () => row).flat();
  }
  if (node.kind !== 'sequence') return null;
  const rows = node.items.map(listUnitClasses);
  return rows.some((row) => row === null) ? null : rows.flatMap((row) => row!);
}

const ROW_UNITS_MAX = 16;

/** The maximum length of a back reference. In the built-in patterns it refers to a single character. */
const AGAIN_UNITS_MAX = 64;

interface Reader {
  readonly source: string;
  at: number;
}

const CLASS = /\[(?:\\.|[^\]\\])*\]/y;
const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|k<\w+>|c[A-Za-z]|[\s\S])/y;
const OPENING = /\((?:\?(?::|<?[=!]|<\w+>))?/y;
const COUNT = /(?:\*|\+|\?|\{(\d+)(,(\d*))?\})\??/y;
const NOTHING: PatternNode = { kind: 'sequence', items: [] };

function readChoice(reader: Reader): PatternNode {
  const choices: PatternNode[] = [];
  let items: PatternNode[] = [];
  while (reader.at < reader.source.length && reader.source[reader.at] !== ')') {
    if (reader.source[reader.at] === '|') {
      choices.push({ kind: 'sequence', items });
      items = [];
      reader.at += 1;
    } else items.push(readTerm(reader));
  }
  choices.push({ kind: 'sequence', items });
  return choices.length === 1 ? choices[0]! : { kind: 'choice', items: choices };
}

function readTerm(reader: Reader): PatternNode {
  const item = readAtom(reader);
  const count = takeMatch(reader, COUNT);
  if (count === null) return item;
  const [written, least, comma, most] = count;
  if (least === undefined) {
    const from = written.startsWith('+') ? 1 : 0;
    return {
      kind: 'repeat',
      item,
      least: from,
      most: written.startsWith('?') ? 1 : Number.POSITIVE_INFINITY,
    };
  }
  const top = comma === undefined ? Number(least) : most === '' ? Number.POSITIVE_INFINITY : Number(most);
  return { kind: 'repeat', item, least: Number(least), most: top };
}

/** The group that narrows the finding, or one of its alternatives. */
const VALUE_GROUP = /^\(\?<value[2-9]?>$/;

function readAtom(reader: Reader): PatternNode {
  const from = reader.at;
  const opening = takeMatch(reader, OPENING);
  if (opening !== null) {
    const item = readChoice(reader);
    reader.at += 1;
    const [written] = opening;
    if (written === '(?=' || written === '(?!') return { kind: 'ahead', item, is_refused: written === '(?!' };
    if (written === '(?<=' || written === '(?<!')
      return { kind: 'behind', source: reader.source.slice(from, reader.at) };
    return VALUE_GROUP.test(written) ? { kind: 'value', item } : item;
  }
  const written = (takeMatch(reader, ESCAPE) ?? takeMatch(reader, CLASS))?.[0];
  if (written === '\\b' || written === '\\B') return { kind: 'edge' };
  if (written !== undefined && /^\\(?:k<|[1-9])/.test(written)) return { kind: 'again' };
  if (written !== undefined) return { kind: 'unit', source: written };
  const char = reader.source[reader.at++]!;
  if (char === '$') return { kind: 'edge' };
  if (char === '^') return NOTHING;
  return { kind: 'unit', source: char === '.' ? char : `[\\${char}]`.replace(/\\(?=\w)/, '') };
}

function takeMatch(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.source);
  if (found !== null) reader.at = pattern.lastIndex;
  return found;
}
