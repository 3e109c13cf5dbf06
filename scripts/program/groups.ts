import { relative, resolve } from 'node:path';
import type { Metafile, Plugin } from 'esbuild';

/** The modules that each process loads at every start, by the process. Those that it loads on demand are named too. */
export type Starts = Readonly<Record<string, readonly string[]>>;

const NAMESPACE = 'entry';

/**
 * Returns a plugin of the bundler that writes few files for a start, where the bundler alone writes one for each set of
 * entries that share a module: hundreds, each of which takes a millisecond. Modules that the same processes load at
 * their starts become one file, because an entry that needs one of them imports all.
 *
 * @param metafile - the graph of an earlier build of the same entries
 */
export function joinStarts({ inputs }: Metafile, starts: Starts): Plugin {
  const groups = groupModules(inputs, starts);
  return {
    name: 'groups',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^\.|^src\// }, ({ path, kind, resolveDir, namespace }) => {
        if (namespace === NAMESPACE || (kind !== 'entry-point' && kind !== 'dynamic-import')) return null;
        const module = relative(resolve(), resolve(resolveDir, path));
        return inputs[module] === undefined ? null : { path: module, namespace: NAMESPACE };
      });
      onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => {
        const companions = listCompanions(path, inputs, groups).map((each) => `import ${quote(each)};`);
        const contents = [...companions, `export * from ${quote(path)};`].join('\n');
        return { contents, resolveDir: process.cwd() };
      });
    },
  };
}

function quote(module: string): string {
  return JSON.stringify(resolve(module));
}

/**
 * Returns the group of each module of a start. Modules that only the start reaches are apart from those that some
 * entry reaches on demand, so that none of these loads a whole start.
 */
function groupModules(inputs: Metafile['inputs'], starts: Starts): ReadonlyMap<string, string> {
  const reached = Object.entries(starts).map(
    ([name, modules]) => [name, collectStaticImports(inputs, modules)] as const,
  );
  const atStart = new Set(Object.values(starts).flat());
  const onDemand = Object.values(inputs)
    .flatMap(({ imports }) => imports)
    .filter(({ kind, external, path }) => kind === 'dynamic-import' && !external && !atStart.has(path));
  const elsewhere = collectStaticImports(
    inputs,
    onDemand.map(({ path }) => path),
  );
  const groups = Object.keys(inputs).map((path) => {
    const names = reached.filter(([, modules]) => modules.has(path)).map(([name]) => name);
    return [path, [...names, ...(elsewhere.has(path) ? ['on demand'] : [])].join(' ')] as const;
  });
  return new Map(groups.filter(([path]) => reached.some(([, modules]) => modules.has(path))));
}

/** Returns the modules of all groups that the entry needs a module of. */
function listCompanions(
  entry: string,
  inputs: Metafile['inputs'],
  groups: ReadonlyMap<string, string>,
): readonly string[] {
  const needed = new Set<string>();
  let modules: readonly string[] = [entry];
  for (;;) {
    const before = needed.size;
    for (const path of collectStaticImports(inputs, modules)) {
      const group = groups.get(path);
      if (group !== undefined) needed.add(group);
    }
    if (needed.size === before) break;
    modules = [entry, ...[...groups].filter(([, group]) => needed.has(group)).map(([path]) => path)];
  }
  // The packages' own modules follow from these.
  return modules.slice(1).filter((path) => path.startsWith('src/'));
}

/** @throws Error if one of the modules is not in the graph */
function collectStaticImports(inputs: Metafile['inputs'], modules: readonly string[]): ReadonlySet<string> {
  const needed = new Set<string>();
  const open = [...modules];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (needed.has(path)) continue;
    needed.add(path);
    const input = inputs[path];
    if (input === undefined) throw new Error(`the program has no module ${path}`);
    for (const each of input.imports)
      if (each.external !== true && each.kind === 'import-statement') open.push(each.path);
  }
  return needed;
}
