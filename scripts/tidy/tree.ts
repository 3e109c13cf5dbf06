import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { parseSync } from 'oxc-parser';

/** One parsed TypeScript file. Paths are relative to the root, with `/`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly is_test: boolean;
  readonly imports: readonly Import[];
  readonly functions: readonly FunctionNode[];
  readonly exports: readonly ExportNode[];
  readonly classes: readonly ClassNode[];
  /** Calls and reads of a member of a plain name, `Date.now` or `Math.random`, and reads of single names. */
  readonly names: readonly NameNode[];
  /** Casts that the compiler cannot check. */
  readonly casts: readonly CastNode[];
  /** Constructions by a plain name: `new Date()`. */
  readonly constructions: readonly {
    readonly name: string;
    readonly arguments: number;
    readonly line: number;
  }[];
}

export interface Import {
  readonly specifier: string;
  /** The imported file, if it is in the tree; `null` for packages and Node's own modules. */
  readonly path: string | null;
  readonly is_type: boolean;
  readonly is_dynamic: boolean;
  readonly line: number;
}

export interface FunctionNode {
  readonly line: number;
  readonly lines: number;
}

export interface ExportNode {
  readonly name: string;
  readonly kind: 'function' | 'class' | 'constant' | 'type';
  readonly documented: boolean;
  readonly line: number;
}

export interface ClassNode {
  readonly name: string;
  readonly base: string | null;
  readonly line: number;
}

export interface NameNode {
  readonly name: string;
  readonly line: number;
}

export interface CastNode {
  readonly kind: 'as never' | 'as unknown as';
  readonly line: number;
}

export interface Tree {
  readonly sources: readonly SourceFile[];
  /** Every text file below the root, TypeScript or not. */
  readonly texts: readonly { readonly path: string; readonly text: string }[];
}

const SKIPPED = new Set([
  'node_modules',
  '.git',
  '.service',
  'dist',
  'dist-package',
  'test-output',
  '.components',
  'package-lock.json',
]);
const TEXT = /\.(ts|mjs|js|json|md|sh|yaml|yml|toml|py|html|css|txt)$|\/[^.]+$/;

/** Reads the tree below `root`. */
export function readTree(root: string): Tree {
  const texts = [...listFilesBelow(root, root)]
    .filter((path) => TEXT.test(`/${path}`))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  return parseTree(texts);
}

/** Builds a tree from the given files. */
export function parseTree(texts: Tree['texts']): Tree {
  const sources = texts.filter(({ path }) => /\.ts$/.test(path) && !path.endsWith('.d.ts'));
  return { texts, sources: sources.map(({ path, text }) => parseSource(path, text)) };
}

function* listFilesBelow(root: string, folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const name = join(folder, entry.name);
    if (SKIPPED.has(entry.name)) continue;
    if (entry.isDirectory()) yield* listFilesBelow(root, name);
    else if (entry.isFile()) yield relative(root, name);
  }
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

interface ParsedFile {
  imports: Import[];
  functions: FunctionNode[];
  exports: ExportNode[];
  classes: ClassNode[];
  names: NameNode[];
  casts: CastNode[];
  constructions: { name: string; arguments: number; line: number }[];
}

function parseSource(path: string, text: string): SourceFile {
  const { program, errors, comments } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`);
  const lineOf = createLineFinder(text);
  const found: ParsedFile = {
    imports: [],
    functions: [],
    exports: [],
    classes: [],
    names: [],
    casts: [],
    constructions: [],
  };
  const docs = comments
    .filter((each) => each.type === 'Block' && each.value.startsWith('*'))
    .map((each) => each.end);
  visitNodes(program as unknown as Node, (node) => noteNode(node, path, lineOf, found));
  for (const node of (program as unknown as { body: Node[] }).body)
    noteExport(node, text, docs, lineOf, found);
  return { path, text, is_test: /\.test\.ts$|^tests\/|\/testing\//.test(path), ...found };
}

function createLineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

function visitNodes(node: Node, each: (node: Node) => void): void {
  each(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && typeof (child as Node).type === 'string') {
        visitNodes(child as Node, each);
      }
    }
  }
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const IMPORTS = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
]);

function noteNode(node: Node, path: string, lineOf: (offset: number) => number, found: ParsedFile): void {
  const line = lineOf(node.start);
  if (IMPORTS.has(node.type)) noteImport(node, path, line, found);
  if (FUNCTIONS.has(node.type)) found.functions.push({ line, lines: lineOf(node.end - 1) - line + 1 });
  if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') {
    const base = node.superClass as { name?: string } | null;
    found.classes.push({ name: getName(node.id) ?? '', base: base?.name ?? null, line });
  }
  if (node.type === 'NewExpression') {
    const name = getName(node.callee);
    if (name !== null) found.constructions.push({ name, arguments: (node.arguments as Node[]).length, line });
  }
  if (node.type === 'TSAsExpression') {
    if (getCastType(node) === 'TSNeverKeyword') found.casts.push({ kind: 'as never', line });
    if (getCastType(node.expression as Node) === 'TSUnknownKeyword')
      found.casts.push({ kind: 'as unknown as', line });
  }
  if (node.type === 'MemberExpression') {
    const [object, property] = [getName(node.object), getName(node.property)];
    if (object !== null && property !== null) found.names.push({ name: `${object}.${property}`, line });
  }
}

function getCastType(node: Node): string | null {
  return node.type === 'TSAsExpression' ? (node.typeAnnotation as Node).type : null;
}

function noteImport(node: Node, path: string, line: number, found: ParsedFile): void {
  const source = node.source as { value?: unknown } | null | undefined;
  if (typeof source?.value !== 'string') return;
  const specifiers = (node.specifiers as { importKind?: string; exportKind?: string }[] | undefined) ?? [];
  const kinds = specifiers.map((each) => each.importKind ?? each.exportKind);
  const isType =
    node.type === 'TSImportType' ||
    node.importKind === 'type' ||
    node.exportKind === 'type' ||
    (kinds.length > 0 && kinds.every((kind) => kind === 'type'));
  const ours = source.value.startsWith('.') ? normalize(join(dirname(path), source.value)) : null;
  const isDynamic = node.type === 'ImportExpression';
  found.imports.push({ specifier: source.value, path: ours, is_type: isType, is_dynamic: isDynamic, line });
}

function noteExport(
  node: Node,
  text: string,
  docs: readonly number[],
  lineOf: (offset: number) => number,
  found: ParsedFile,
): void {
  const declaration = node.declaration as Node | null | undefined;
  if (node.type !== 'ExportNamedDeclaration' || !declaration) return;
  const documented = docs.some((end) => end <= node.start && text.slice(end, node.start).trim() === '');
  const line = lineOf(node.start);
  for (const [name, kind] of listDeclaredNames(declaration))
    found.exports.push({ name, kind, documented, line });
}

function listDeclaredNames(node: Node): [string, ExportNode['kind']][] {
  if (node.type === 'VariableDeclaration') {
    return (node.declarations as Node[]).map((each) => {
      const init = each.init as Node | null;
      return [getName(each.id) ?? '', init !== null && FUNCTIONS.has(init.type) ? 'function' : 'constant'];
    });
  }
  const name = getName(node.id) ?? '';
  if (node.type === 'FunctionDeclaration') return [[name, 'function']];
  if (node.type === 'ClassDeclaration') return [[name, 'class']];
  return [[name, 'type']];
}

function getName(node: unknown): string | null {
  const named = node as { type?: string; name?: unknown } | null | undefined;
  return named?.type === 'Identifier' && typeof named.name === 'string' ? named.name : null;
}
