import type { Document, LineCounter, Node, Pair } from 'yaml';
import type { PathStep } from './problem-path.ts';

/** A problem in a text, and its place. `line` counts from 1. */
export interface TextProblem {
  readonly steps: readonly PathStep[];
  /** The predicate of a sentence. */
  readonly message: string;
  readonly line?: number;
}

/** One document of a YAML text: plain JSON, and the line of each part. */
export interface YamlDocument {
  readonly value: unknown;
  /** Returns the line of a path, or of its nearest existing ancestor. */
  readonly lineOf: (steps: readonly PathStep[]) => number;
}

export type YamlRead =
  | { readonly ok: true; readonly documents: readonly YamlDocument[] }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

const DEPTH_MAX = 64;
const NODES_MAX = 200_000;
const ALIASES_MAX = 200;
const DOCUMENTS_MAX = 1000;
const PROBLEMS_MAX = 20;
const PLAIN_TAGS: ReadonlySet<string> = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Parses YAML 1.2 (and so JSON) into plain JSON values. Rejects, each with its line: syntax errors, duplicate keys,
 * keys that are neither names nor numbers, custom tags, numbers that are not finite, and texts that expand or nest
 * beyond limits. Loads the yaml library on first use. Messages repeat keys, never values.
 */
export async function readYaml(text: string): Promise<YamlRead> {
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  // The library compares every pair of keys; `checkTree` finds duplicates in linear time.
  const options = { lineCounter: lines, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;
  const parsed = yaml.parseAllDocuments(text, options);
  const documents = 'empty' in parsed ? [] : (parsed as Document.Parsed[]);
  if (documents.length > DOCUMENTS_MAX) return buildFailedRead(`has more than ${DOCUMENTS_MAX} documents`);
  const problems: TextProblem[] = [];
  for (const document of documents) {
    problems.push(...getProblems(document, lines, yaml));
    if (problems.length >= PROBLEMS_MAX) break;
  }
  if (problems.length > 0) return { ok: false, problems: problems.slice(0, PROBLEMS_MAX) };
  try {
    return { ok: true, documents: documents.map((document) => asPlain(document, lines, yaml)) };
  } catch (error) {
    // The library's error for nested aliases that expand too far.
    if (error instanceof ReferenceError) return buildFailedRead('grows beyond bounds through its aliases');
    throw error;
  }
}

type Yaml = typeof import('yaml');

function buildFailedRead(message: string): YamlRead {
  return { ok: false, problems: [{ steps: [], message }] };
}

function asPlain(document: Document.Parsed, lines: LineCounter, yaml: Yaml): YamlDocument {
  const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
  return { value, lineOf: (steps) => findLine(document, steps, lines, yaml) };
}

function getProblems(document: Document.Parsed, lines: LineCounter, yaml: Yaml): TextProblem[] {
  const faults = [...document.errors, ...document.warnings];
  if (faults.length === 0) return checkTree(document, lines, yaml);
  return faults.slice(0, PROBLEMS_MAX).map((fault) => {
    const { line, col } = lines.linePos(fault.pos[0]);
    const message = `is not valid YAML at line ${line}, column ${col}: ${describeYamlFault(fault.code, fault.message)}`;
    return { steps: [], message, line };
  });
}

/** Returns the library's message up to the first colon. The rest quotes the text, which may contain a credential. */
function describeYamlFault(code: string, message: string): string {
  if (code === 'RESOURCE_EXHAUSTION') return `it nests deeper than ${DEPTH_MAX} levels`;
  if (code === 'TAG_RESOLVE_FAILED') return 'a tag (`!name`) is not supported here';
  return (message.split(/[:\n]/, 1)[0] ?? '').trim() || 'it cannot be read';
}

interface Walk {
  readonly yaml: Yaml;
  readonly document: Document.Parsed;
  readonly problems: TextProblem[];
  readonly say: (node: unknown, path: readonly PathStep[], message: string) => void;
  /** The anchors of the nodes that are being walked. An alias of one of them would be endless. */
  readonly open: Set<string>;
  /** The number of values in each anchor's node, including those of its aliases. */
  readonly anchors: Map<string, number>;
  nodes: number;
  aliases: number;
}

function checkTree(document: Document.Parsed, lines: LineCounter, yaml: Yaml): TextProblem[] {
  const problems: TextProblem[] = [];
  const say: Walk['say'] = (node, path, message) => {
    const offset = yaml.isNode(node) ? node.range?.[0] : undefined;
    const line = offset === undefined ? {} : { line: lines.linePos(offset).line };
    problems.push({ steps: path, message, ...line });
  };
  const walk: Walk = {
    yaml,
    document,
    problems,
    say,
    open: new Set(),
    anchors: new Map(),
    nodes: 0,
    aliases: 0,
  };
  if ((document.directives?.yaml.version ?? '1.2') === '1.2') checkNode(walk, document.contents, []);
  else say(document.contents, [], 'must be YAML 1.2; older versions read some words differently');
  return problems;
}

function checkNode(walk: Walk, node: unknown, path: PathStep[]): void {
  const { yaml, say } = walk;
  if (!yaml.isNode(node) || walk.problems.length >= PROBLEMS_MAX || !isWithinBounds(walk, node, path)) return;
  const anchor = 'anchor' in node ? node.anchor : undefined;
  const before = walk.nodes;
  if (anchor !== undefined) walk.anchors.set(anchor, 1);
  if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag))
    say(node, path, 'has a tag (`!name`), which is not supported here');
  if (yaml.isScalar(node)) {
    if (typeof node.value === 'number' && !Number.isFinite(node.value))
      say(node, path, 'is not a finite number');
    return;
  }
  if (anchor !== undefined) walk.open.add(anchor);
  if (yaml.isMap(node)) checkPairs(walk, node.items, path);
  if (yaml.isSeq(node)) for (const [i, item] of node.items.entries()) checkNode(walk, item, [...path, i]);
  if (anchor === undefined) return;
  walk.open.delete(anchor);
  walk.anchors.set(anchor, walk.nodes - before + 1);
}

/** Counts a node, and an alias as all its values. Reports each exceeded limit once. */
function isWithinBounds(walk: Walk, node: Node, path: PathStep[]): boolean {
  if (path.length > DEPTH_MAX)
    return refuseNode(walk, node, path.slice(0, 3), `nests deeper than ${DEPTH_MAX} levels`);
  let count = 1;
  if (walk.yaml.isAlias(node)) {
    walk.aliases += 1;
    const size = walk.anchors.get(node.source);
    if (walk.open.has(node.source))
      return refuseNode(walk, node, path, 'is an alias of a node that contains it');
    if (size === undefined)
      return refuseNode(walk, node, path, 'is an alias of an anchor that is not defined before it');
    if (walk.aliases === ALIASES_MAX + 1)
      return refuseNode(walk, node, [], `has more than ${ALIASES_MAX} aliases`);
    count = size;
  }
  const before = walk.nodes;
  walk.nodes += count;
  if (walk.nodes <= NODES_MAX) return true;
  return (
    before <= NODES_MAX &&
    refuseNode(walk, node, [], `has more than ${NODES_MAX} values, those of its aliases counted`)
  );
}

function refuseNode(walk: Walk, node: Node, path: PathStep[], message: string): false {
  walk.say(node, path, message);
  return false;
}

function checkPairs(walk: Walk, pairs: readonly Pair[], path: PathStep[]): void {
  const seen = new Set<string>();
  for (const pair of pairs) {
    const key = walk.yaml.isScalar(pair.key) ? pair.key.value : undefined;
    if (typeof key !== 'string' && typeof key !== 'number') {
      walk.say(pair.key, path, 'has a key that is neither a name nor a number');
      continue;
    }
    const name = String(key);
    const here = [...path, name];
    if (seen.has(name)) walk.say(pair.key, here, 'is a duplicate key; give each key once');
    if (name === '__proto__') walk.say(pair.key, here, 'cannot be a key');
    if (name === '<<') walk.say(pair.key, here, 'is no merge in YAML 1.2; write the keys out');
    seen.add(name);
    checkNode(walk, pair.value, here);
  }
}

function findLine(
  document: Document.Parsed,
  steps: readonly PathStep[],
  lines: LineCounter,
  yaml: Yaml,
): number {
  let node: unknown = document.contents;
  let offset = yaml.isNode(node) ? (node.range?.[0] ?? 0) : 0;
  for (const step of steps) {
    const found = getChild(node, step, document, yaml);
    if (found === null) break;
    node = found.value;
    offset = found.offset ?? offset;
  }
  return Math.max(1, lines.linePos(offset).line);
}

function getChild(
  node: unknown,
  step: PathStep,
  document: Document.Parsed,
  yaml: Yaml,
): { value: unknown; offset: number | undefined } | null {
  const parent: unknown = yaml.isAlias(node) ? node.resolve(document) : node;
  if (yaml.isSeq(parent)) {
    const value = typeof step === 'number' ? parent.items[step] : undefined;
    return yaml.isNode(value) ? { value, offset: value.range?.[0] } : null;
  }
  if (!yaml.isMap(parent)) return null;
  const pair = parent.items.find(
    (item) => yaml.isScalar(item.key) && String(item.key.value) === String(step),
  );
  return pair === undefined
    ? null
    : { value: pair.value, offset: yaml.isScalar(pair.key) ? pair.key.range?.[0] : undefined };
}
