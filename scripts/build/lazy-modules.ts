/**
 * Makes imports lazy: a module runs when one of its names is first used, in the middle of a synchronous call.
 * JavaScript has no such imports. In the files of `LAZY_FILES` each use of an imported name becomes a lookup.
 * The imported modules go into a few files next to the joined ones, where each module runs at the first
 * lookup. Packages are loaded when a module that imports them runs.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/** The output file of each module that a lazy file imports, by the beginning of its path there. */
type LazyTargets = readonly (readonly [beginning: string, file: string])[];

export const LAZY_FILES: Readonly<Record<string, LazyTargets>> = {
  'core/detect/detectors/index.js': [
    ['./content/', 'injection'],
    ['./injection/', 'injection'],
    ['./personal/', 'personal'],
    ['./secrets/', 'secrets'],
  ],
  'core/detect/lazy.js': [
    ['./commands/', 'commands'],
    ['./facts/', 'commands'],
    ['./guard/', 'commands'],
    ['./matching/custom/', 'custom'],
  ],
  'core/decision/lazy-argument-check.js': [['./argument-check', 'arguments']],
  'core/flow/lazy.js': [['./', 'flow']],
};
/** Packages that are loaded when a module that imports them runs. */
export const LAZY_PACKAGES = ['@cfworker/json-schema', '@noble/hashes', 'ipaddr.js', 're2js'];

const NAMESPACE = 'lazy';
/** The form in which the TypeScript compiler and the bundler write imports. */
const IMPORT = /^import (?:(\w+)|\{\s([^}]+?),?\s\}) from ['"]([^'"]+)['"];$/gm;

/** Returns the entries of the bundler for the files that are loaded on demand, and their names below `dist`. */
export function listLazyEntries(): readonly { readonly in: string; readonly out: string }[] {
  const files = new Set(Object.values(LAZY_FILES).flatMap((targets) => targets.map(([, file]) => file)));
  return [...files].map((file) => ({ in: `${NAMESPACE}:${file}`, out: `core/lazy-${file}` }));
}

/** Returns the plugin of the bundler; `dist` contains the modules that the compiler wrote. */
export function loadLazily(dist: string): Plugin {
  const lazyFiles = Object.entries(LAZY_FILES).map(([name, targets]) => {
    const path = resolve(dist, name);
    return { path, targets, text: readFileSync(path, 'utf8') };
  });
  return {
    name: 'lazy',
    setup: ({ onLoad, onResolve }) => {
      onLoad({ filter: /[/\\]core[/\\].*\.js$/, namespace: 'file' }, ({ path }) => {
        const found = lazyFiles.find((each) => each.path === path);
        const contents =
          found === undefined
            ? withPackagesLazy(readFileSync(path, 'utf8'))
            : withLookUpsInFiles(found.text, found.targets);
        return { contents, resolveDir: dirname(path) };
      });
      onResolve({ filter: /^lazy:/ }, ({ path }) => ({
        path: path.slice(NAMESPACE.length + 1),
        namespace: NAMESPACE,
      }));
      onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => ({
        contents: path === 'required' ? REQUIRED : buildLazyFile(path, lazyFiles),
        resolveDir: dist,
      }));
    },
  };
}

/** Loads Node's `module` at the first use only. */
const REQUIRED = `let load;
export function required(name) {
  load ??= process.getBuiltinModule('node:module').createRequire(import.meta.url);
  return load(name);
}`;

/** Returns the source of a file of modules, each of which runs when it is requested. */
function buildLazyFile(
  file: string,
  lazyFiles: readonly { readonly path: string; readonly targets: LazyTargets; readonly text: string }[],
): string {
  const modules = lazyFiles.flatMap(({ path, targets, text }) =>
    [...text.matchAll(IMPORT)]
      .map(([, , , from]) => from!)
      .filter((from) => getFile(targets, from) === file)
      .map((from) => `${JSON.stringify(from)}: () => require(${JSON.stringify(join(dirname(path), from))}),`),
  );
  return `export const modules = {\n${modules.join('\n')}\n};`;
}

function getFile(targets: LazyTargets, from: string): string {
  const found = targets.find(([beginning]) => from.startsWith(beginning));
  if (found === undefined)
    throw new Error(`${from} has no output file: add one to LAZY_FILES in scripts/build/lazy-modules.ts`);
  return found[1];
}

function withLookUpsInFiles(text: string, targets: LazyTargets): string {
  const lookedUp = withLookUps(
    text,
    (from) => `required('./lazy-${getFile(targets, from)}.js').modules['${from}']()`,
  );
  return `import { required } from 'lazy:required';\n${lookedUp}`;
}

/**
 * Replaces every imported name by a lookup in its module.
 *
 * @param text - a module in JavaScript
 * @param load - returns the expression that runs an imported module and returns its exports
 */
export function withLookUps(text: string, load: (from: string) => string): string {
  const modules: string[] = [];
  const names = new Map<string, string>();
  const body = text.replace(IMPORT, (_, whole: string | undefined, list = '', from: string) => {
    const at = modules.length;
    modules.push(`let module_${at};\nconst in_${at} = () => module_${at} ??= ${load(from)};`);
    for (const [exported, name] of getNames(whole, list)) names.set(name, `in_${at}().${exported}`);
    return '';
  });
  if (names.size === 0 || /^import /m.test(body)) throw new Error('a lazy file has imports of another form');
  const lookedUp = body.replace(/\b[A-Za-z_]\w*\b/g, (word) => names.get(word) ?? word);
  return `${modules.join('\n')}\n${lookedUp}`;
}

/** Replaces imports of packages by constants of the module, because imports would load them before it. */
function withPackagesLazy(text: string): string {
  let isChanged = false;
  const body = text.replace(IMPORT, (line, whole: string | undefined, list = '', from: string) => {
    if (!LAZY_PACKAGES.some((name) => from === name || from.startsWith(`${name}/`))) return line;
    isChanged = true;
    const names = getNames(whole, list).map(([exported, name]) =>
      exported === name ? name : `${exported}: ${name}`,
    );
    return `const ${whole ?? `{ ${names.join(', ')} }`} = required('${from}');`;
  });
  return isChanged ? `import { required } from 'lazy:required';\n${body}` : text;
}

/** Returns the imported names, and their local names. */
function getNames(whole: string | undefined, list: string): readonly (readonly [string, string])[] {
  if (whole !== undefined) return [['default', whole]];
  return list.split(',').map((each) => {
    const [exported, name] = each.trim().split(' as ');
    return [exported!, name ?? exported!];
  });
}
