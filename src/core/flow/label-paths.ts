import { memoize } from '../memoize.ts';
import type { Label } from '../types/index.ts';

/** One step in a path: a member, any member (`*`), any element (`[]`), the member names, or the lines of a text. */
type PathStep = string;

const ANY_MEMBER = '*';
const ELEMENT = '[]';
export const KEYS_STEP = '@keys';
export const LINES_STEP = '@lines';

const STEPS_MAX = 32;
const UNITS_MAX = 256;

/** Parses a path such as `items[].body`; returns `null` if it is none. */
export function parseLabelPath(path: string): readonly PathStep[] | null {
  if (path === '' || path.length > UNITS_MAX) return null;
  const steps: PathStep[] = [];
  for (const part of path.split('.')) {
    const [, name, elements] = /^([^[\]]*)((?:\[\])*)$/.exec(part) ?? [];
    if (name === undefined || (name === '' && (elements === '' || steps.length > 0))) return null;
    if (name !== '') steps.push(name);
    for (let at = 0; at < elements!.length; at += ELEMENT.length) steps.push(ELEMENT);
  }
  const special = steps.findIndex((step) => step === KEYS_STEP || step === LINES_STEP);
  const isLast = special < 0 || special === steps.length - 1;
  return steps.length <= STEPS_MAX && isLast ? steps : null;
}

interface LabelNode {
  label: Label | null;
  readonly children: Map<PathStep, LabelNode>;
}

/** Finds the labels for places in a result. */
export interface LabelFinder {
  /** Returns the label from the most specific path that covers a place; `null` if there is none. */
  readonly find: (place: readonly PathStep[], last?: PathStep) => Label | null;
}

/** Returns the finder for a contract's labels. */
export const getLabelFinder = memoize((labels: Readonly<Record<string, Label>>): LabelFinder => {
  const root: LabelNode = { label: null, children: new Map() };
  for (const [path, label] of Object.entries(labels)) {
    let node = root;
    for (const step of parseLabelPath(path) ?? []) {
      const next = node.children.get(step) ?? { label: null, children: new Map() };
      node.children.set(step, next);
      node = next;
    }
    node.label = label;
  }
  return { find: (place, last) => findLabel(root, place, last) };
});

/** Returns the place for a member or an element, as `find` takes it. */
export function buildPlaceStep(key: string | null): PathStep {
  return key === null ? ELEMENT : key;
}

/**
 * Walks all paths at once. Nodes are ordered by preference, a named member before `*`, and the last label that is found
 * is the deepest one. With `last`, only a label for exactly that counts.
 */
function findLabel(root: LabelNode, place: readonly PathStep[], last?: PathStep): Label | null {
  let nodes: readonly LabelNode[] = [root];
  let found: Label | null = null;
  for (const step of place) {
    const next: LabelNode[] = [];
    const names = step === ELEMENT ? [ELEMENT] : [step, ANY_MEMBER];
    for (const name of names)
      for (const node of nodes) {
        const child = node.children.get(name);
        if (child !== undefined) next.push(child);
      }
    if (next.length === 0) return last === undefined ? found : null;
    nodes = next;
    found = nodes.find(({ label }) => label !== null)?.label ?? found;
  }
  if (last === undefined) return found;
  return nodes.find((node) => node.children.has(last))?.children.get(last)?.label ?? null;
}
