import { parseSync, Visitor } from 'oxc-parser';
import { LAZY_FILES, LAZY_PACKAGES } from './lazy-modules.ts';

/** The modules that files of the SDK need for some policies only. */
const LAZY_IN_SDK: Readonly<Record<string, readonly string[]>> = {
  'sdk/embedded': ['./yaml-text.ts'],
  'sdk/local/compile-source': ['../../core/policy/conditions/cel.ts'],
  'sdk/local/local-backend': ['../../core/policy/conditions/cel.ts'],
};

/**
 * Makes the imports of a module lazy for a bundle that is one file, where `require` runs a module at its first use.
 *
 * @param name - the path of the module below `src`, without its ending
 * @param code - the module in JavaScript
 */
export function withLazyRequires(name: string, code: string): string {
  const own = LAZY_IN_SDK[name] ?? [];
  const isWhole = LAZY_FILES[`${name}.js`] !== undefined;
  const isPackage = (from: string) =>
    LAZY_PACKAGES.some((each) => from === each || from.startsWith(`${each}/`));
  return replaceImports(code, (from) => isWhole || own.includes(from) || isPackage(from));
}

interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Replaces the imports that `isLazy` accepts. Each use of an imported name becomes a lookup. */
function replaceImports(code: string, isLazy: (from: string) => boolean): string {
  const names = new Map<string, string>();
  const modules: string[] = [];
  const changes: Change[] = [];
  const { program } = parseSync('module.js', code);
  for (const statement of program.body) {
    if (statement.type !== 'ImportDeclaration' || !isLazy(statement.source.value)) continue;
    const at = modules.length;
    const from = JSON.stringify(statement.source.value);
    modules.push(`let module_${at};\nconst in_${at} = () => (module_${at} ??= require(${from}));`);
    changes.push({ start: statement.start, end: statement.end, text: '' });
    for (const each of statement.specifiers) {
      if (each.type === 'ImportSpecifier' && each.imported.type === 'Identifier')
        names.set(each.local.name, `in_${at}().${each.imported.name}`);
      // A package in CommonJS is its own default export.
      else if (each.type === 'ImportDefaultSpecifier')
        names.set(each.local.name, `(in_${at}().default ?? in_${at}())`);
      else throw new Error(`${from}: imports of this form cannot be lazy`);
    }
  }
  if (modules.length === 0) return code;
  const inside = (start: number) => changes.some((each) => start >= each.start && start < each.end);
  const uses = listUses(program, names).filter(({ start }) => !inside(start));
  return `${modules.join('\n')}\n${applyChanges(code, [...changes, ...uses])}`;
}

/** Lists the uses of names. Members and keys of the same spelling are none. */
function listUses(
  program: ReturnType<typeof parseSync>['program'],
  names: ReadonlyMap<string, string>,
): readonly Change[] {
  const uses: Change[] = [];
  const others = new Set<number>();
  const shorthands = new Map<number, string>();
  new Visitor({
    MemberExpression: ({ property, computed }) => {
      if (!computed) others.add(property.start);
    },
    Property: ({ key, computed, shorthand }) => {
      if (shorthand && key.type === 'Identifier') shorthands.set(key.start, key.name);
      else if (!computed) others.add(key.start);
    },
    Identifier: ({ name, start, end }) => {
      const text = names.get(name);
      if (text !== undefined) uses.push({ start, end, text });
    },
  }).visit(program);
  const once = new Map(uses.filter(({ start }) => !others.has(start)).map((use) => [use.start, use]));
  return [...once.values()].map((use) => {
    const key = shorthands.get(use.start);
    return key === undefined ? use : { ...use, text: `${key}: ${use.text}` };
  });
}

/** Applies changes that do not overlap. */
export function applyChanges(code: string, changes: readonly Change[]): string {
  return [...changes]
    .sort((one, other) => one.start - other.start)
    .reduceRight((text, { start, end, text: by }) => text.slice(0, start) + by + text.slice(end), code);
}
