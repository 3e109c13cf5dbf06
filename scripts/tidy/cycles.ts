import type { SourceFile } from './tree.ts';

/** Children of one folder that import each other in a cycle. */
export interface FolderCycle {
  readonly folder: string;
  /** Names in the folder, sorted. */
  readonly children: readonly string[];
  /** A file that is part of the cycle. */
  readonly example: string;
}

/** Returns the cycles among the children of every folder. Imports of types count like values. */
export function findFolderCycles(sources: readonly SourceFile[]): FolderCycle[] {
  const folders = new Map<string, Map<string, Map<string, string>>>();
  for (const { path, imports } of sources)
    for (const { path: to } of imports) if (to !== null) addEdge(folders, path, to);
  return [...folders].flatMap(([folder, graph]) =>
    getCycles(new Map([...graph].map(([child, targets]) => [child, [...targets.keys()]]))).map((children) => {
      const targets = graph.get(children[0]!)!;
      return {
        folder,
        children,
        example: targets.get(children[1] ?? children[0]!) ?? [...targets.values()][0]!,
      };
    }),
  );
}

/** Adds an import to the graph of the deepest folder that holds both files. */
function addEdge(folders: Map<string, Map<string, Map<string, string>>>, from: string, to: string): void {
  const [a, b] = [from.split('/'), to.split('/')];
  let shared = 0;
  while (shared < a.length - 1 && shared < b.length - 1 && a[shared] === b[shared]) shared += 1;
  const folder = a.slice(0, shared).join('/');
  const graph = folders.get(folder) ?? new Map<string, Map<string, string>>();
  folders.set(folder, graph);
  const targets = graph.get(a[shared]!) ?? new Map<string, string>();
  graph.set(a[shared]!, targets);
  if (!targets.has(b[shared]!)) targets.set(b[shared]!, from);
}

/** Returns the groups of nodes that reach each other; each is sorted. */
function getCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const state: Search = { graph, order: new Map(), low: new Map(), stack: [], cycles: [] };
  for (const path of graph.keys()) if (!state.order.has(path)) searchCycles(path, state);
  return state.cycles.sort((a, b) => a[0]!.localeCompare(b[0]!));
}

/** The state of Tarjan's search for strongly connected components. */
interface Search {
  readonly graph: ReadonlyMap<string, readonly string[]>;
  readonly order: Map<string, number>;
  readonly low: Map<string, number>;
  readonly stack: string[];
  readonly cycles: string[][];
}

function searchCycles(path: string, state: Search): void {
  const at = state.order.size;
  state.order.set(path, at);
  state.low.set(path, at);
  state.stack.push(path);
  for (const next of state.graph.get(path) ?? []) {
    if (!state.graph.has(next)) continue;
    if (!state.order.has(next)) {
      searchCycles(next, state);
      updateLowLink(state, path, state.low.get(next)!);
    } else if (state.stack.includes(next)) updateLowLink(state, path, state.order.get(next)!);
  }
  if (state.low.get(path) !== at) return;
  const group = state.stack.splice(state.stack.indexOf(path));
  const own = state.graph.get(path)?.includes(path) === true;
  if (group.length > 1 || own) state.cycles.push(group.sort());
}

function updateLowLink(state: Search, path: string, value: number): void {
  state.low.set(path, Math.min(state.low.get(path)!, value));
}
