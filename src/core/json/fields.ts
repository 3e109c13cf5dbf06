import type { JsonMember, JsonNode, Splice } from '../types/json.ts';

/**
 * A tree of the fields to keep: `user.name` is `user` with `name` below it. `null` keeps everything below a field.
 */
export type FieldTree = ReadonlyMap<string, FieldTree | null>;

/** Builds the tree for dotted paths. A path that ends at a field keeps everything below that field. */
export function buildFieldTree(paths: readonly string[]): FieldTree {
  const root: MutableTree = new Map();
  for (const path of paths) addPath(root, path.split('.'));
  return root;
}

interface MutableTree extends Map<string, MutableTree | null> {}

function addPath(root: MutableTree, steps: readonly string[]): void {
  const last = steps[steps.length - 1] as string;
  let at = root;
  for (const step of steps.slice(0, -1)) {
    const below = at.get(step);
    if (below === null) return;
    const next: MutableTree = below ?? new Map();
    at.set(step, next);
    at = next;
  }
  at.set(last, null);
}

/** The splices that remove all fields that are not kept, and the names of these fields. */
export interface RemovedFields {
  readonly splices: readonly Splice[];
  /** Dotted names, each once: `body`, `customers.name`. */
  readonly stripped_fields: readonly string[];
}

/** The maximum number of reported names. Fields beyond it are removed too, but not reported. */
const STRIPPED_MAX = 100;

/**
 * Keeps the named fields of objects, and of objects in lists, and removes all others. A string or number in a place
 * where fields are expected has none of them, so it becomes `null`. `show` returns the form in which a key is
 * reported.
 */
export function keepFields(root: JsonNode, tree: FieldTree, show: (key: string) => string): RemovedFields {
  const notes: FieldDraft = { show, stripped: new Set(), splices: [] };
  keepNode(root, tree, '', notes);
  return { splices: notes.splices, stripped_fields: [...notes.stripped] };
}

interface FieldDraft {
  readonly show: (key: string) => string;
  readonly stripped: Set<string>;
  readonly splices: Splice[];
}

function keepNode(node: JsonNode, tree: FieldTree | null, name: string, notes: FieldDraft): void {
  if (tree === null || node.kind === 'null') return;
  if (node.kind === 'array') for (const item of node.items) keepNode(item, tree, name, notes);
  else if (node.kind === 'object') keepMembers(node.members, tree, name, notes);
  else {
    addStripped(name === '' ? '*' : name, notes);
    notes.splices.push({ start: node.start, end: node.end, text: 'null' });
  }
}

/**
 * Removes each run of adjacent members with one splice, which includes the commas that would be left over.
 */
function keepMembers(members: readonly JsonMember[], tree: FieldTree, name: string, notes: FieldDraft): void {
  let before: JsonMember | null = null;
  let run: JsonMember | null = null;
  for (const member of members) {
    const key = member.key.value;
    const below = tree.get(key);
    if (below === undefined) {
      addStripped(joinFieldName(name, notes.show(key)), notes);
      run ??= member;
      continue;
    }
    if (run !== null) notes.splices.push({ start: run.key.start, end: member.key.start, text: '' });
    run = null;
    before = member;
    keepNode(member.value, below, joinFieldName(name, key), notes);
  }
  if (run === null) return;
  const start = before === null ? run.key.start : before.value.end;
  notes.splices.push({ start, end: members.at(-1)!.value.end, text: '' });
}

function joinFieldName(name: string, key: string): string {
  return name === '' ? key : `${name}.${key}`;
}

function addStripped(name: string, { stripped }: FieldDraft): void {
  if (stripped.size < STRIPPED_MAX) stripped.add(name);
}

/** Returns a key as a step of a path: `.name` or `['odd name']`. */
export function formatPathStep(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `['${key.replace(/[\\']/g, '\\$&')}']`;
}
