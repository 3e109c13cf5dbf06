import type { Json } from './types.ts';

/** The fields to keep, as a tree: `user.name` is `user` with `name` below it; `null` keeps all that is below. */
export type FieldTree = ReadonlyMap<string, FieldTree | null>;

/** Builds the tree of dotted paths. A field that is named whole keeps everything below it. */
export function fieldTree(paths: readonly string[]): FieldTree {
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

/** What was kept, and the paths of what was not. */
export interface Kept {
  readonly value: Json;
  readonly stripped: readonly string[];
}

/** Paths that are reported at most; what is over is removed all the same. */
const STRIPPED_MAX = 100;

/**
 * Keeps the named fields of objects, and of the objects in lists, and removes all others. A text or number
 * where fields are expected has none of them, so it becomes `null`. `show` says how a key may be named.
 */
export function keepFields(value: Json, tree: FieldTree, show: (key: string) => string): Kept {
  const stripped: string[] = [];
  const kept = keep(value, tree, '$', { show, stripped });
  return { value: kept, stripped };
}

interface Notes {
  readonly show: (key: string) => string;
  readonly stripped: string[];
}

function keep(value: Json, tree: FieldTree | null, path: string, notes: Notes): Json {
  if (tree === null || value === null) return value;
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((each, at) => keep(each, tree, `${path}[${at}]`, notes));
  }
  if (typeof value === 'object') return keepMembers(value as JsonObject, tree, path, notes);
  drop(() => path, notes);
  return null;
}

type JsonObject = { readonly [key: string]: Json };

function keepMembers(value: JsonObject, tree: FieldTree, path: string, notes: Notes): Json {
  const kept: [string, Json][] = [];
  for (const [key, member] of Object.entries(value)) {
    const below = tree.get(key);
    if (below === undefined) drop(() => `${path}${stepOf(notes.show(key))}`, notes);
    else kept.push([key, keep(member, below, `${path}${stepOf(key)}`, notes)]);
  }
  return Object.fromEntries(kept);
}

function drop(path: () => string, { stripped }: Notes): void {
  if (stripped.length < STRIPPED_MAX) stripped.push(path());
}

/** A key as a step of a path: `.name`, or `['odd name']`. */
export function stepOf(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `['${key.replace(/[\\']/g, '\\$&')}']`;
}
