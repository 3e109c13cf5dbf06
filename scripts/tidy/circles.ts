import type { SourceFile } from './tree.ts';

/** Groups of files that import each other in a circle; each is sorted. Types count like values. */
export function circlesOf(sources: readonly SourceFile[]): string[][] {
  const graph = new Map(
    sources.map(({ path, imports }) => [path, imports.flatMap((each) => each.path ?? [])]),
  );
  const state: Search = { graph, order: new Map(), low: new Map(), stack: [], circles: [] };
  for (const path of graph.keys()) if (!state.order.has(path)) search(path, state);
  return state.circles.sort((a, b) => a[0]!.localeCompare(b[0]!));
}

/** The state of Tarjan's search for strongly connected components. */
interface Search {
  readonly graph: ReadonlyMap<string, readonly string[]>;
  readonly order: Map<string, number>;
  readonly low: Map<string, number>;
  readonly stack: string[];
  readonly circles: string[][];
}

function search(path: string, state: Search): void {
  const at = state.order.size;
  state.order.set(path, at);
  state.low.set(path, at);
  state.stack.push(path);
  for (const next of state.graph.get(path) ?? []) {
    if (!state.graph.has(next)) continue;
    if (!state.order.has(next)) {
      search(next, state);
      lower(state, path, state.low.get(next)!);
    } else if (state.stack.includes(next)) lower(state, path, state.order.get(next)!);
  }
  if (state.low.get(path) !== at) return;
  const group = state.stack.splice(state.stack.indexOf(path));
  const own = state.graph.get(path)?.includes(path) === true;
  if (group.length > 1 || own) state.circles.push(group.sort());
}

function lower(state: Search, path: string, value: number): void {
  state.low.set(path, Math.min(state.low.get(path)!, value));
}
