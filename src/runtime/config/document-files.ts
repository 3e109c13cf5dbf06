import { glob, lstat, readdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, matchesGlob, relative, resolve } from 'node:path';
import type { DocumentProblem } from '../../core/types/index.ts';
import { buildConfigProblem } from './problem-text.ts';
import { type Config, spineSchema } from './schema.ts';

/** A policy, contract, identity or memory file. */
export interface DocumentFile {
  readonly path: string;
  /** The name in messages: relative to the configuration's folder if the file is below it. */
  readonly label: string;
}

export interface DocumentFiles {
  /** Each file once, in the order of the keys, and by name within a key. */
  readonly files: readonly DocumentFile[];
  /** The patterns that match files, each with its key. */
  readonly filled: readonly string[];
  /** The patterns that match no file. */
  readonly empty: readonly EmptyPattern[];
  readonly problems: readonly DocumentProblem[];
  readonly warnings: readonly DocumentProblem[];
}

/** A pattern that matches no file. `steps` is its path in the configuration. */
export interface EmptyPattern {
  /** The key and the pattern. */
  readonly id: string;
  readonly pattern: string;
  readonly steps: readonly (string | number)[];
}

/** The keys of `paths`, in the order in which their files are read. */
export const PATH_KEYS = ['policy_files', 'contract_files', 'identity_files', 'memory_schema_files'] as const;
export type PathKey = (typeof PATH_KEYS)[number];

const FILES_MAX = 2000;
const MAGIC = /[*?[\]{}()!]/;

type PatternRead = { readonly paths: readonly string[]; readonly wrong: string | null };

/**
 * Finds the files that `paths` names. A missing literal file is a problem. A pattern without matches is a warning,
 * unless it is a default pattern. Symbolic links are followed. A file that is matched twice is read once.
 */
export async function findDocuments(config: Config): Promise<DocumentFiles> {
  const files = new Map<string, DocumentFile>();
  const problems: DocumentProblem[] = [];
  const warnings: DocumentProblem[] = [];
  const filled: string[] = [];
  const empty: EmptyPattern[] = [];
  for (const key of PATH_KEYS) {
    for (const [i, pattern] of config.paths[key].entries()) {
      const steps = ['paths', key, i];
      const { paths, wrong } = await findFiles(pattern, config.origin.base_dir);
      if (wrong !== null) problems.push(buildConfigProblem(config.origin.label, steps, wrong));
      else if (paths.length === 0 && !isDefault(key, pattern)) {
        warnings.push(
          buildConfigProblem(config.origin.label, steps, 'matches no file', undefined, 'warning'),
        );
      }
      const id = `${key} ${pattern}`;
      if (paths.length > 0) filled.push(id);
      else empty.push({ id, pattern, steps });
      for (const path of paths) await addFile(files, path, config.origin.base_dir);
    }
  }
  if (files.size > FILES_MAX) {
    problems.push(buildConfigProblem(config.origin.label, ['paths'], `names more than ${FILES_MAX} files`));
  }
  return { files: [...files.values()].slice(0, FILES_MAX), filled, empty, problems, warnings };
}

/** Returns whether a configuration would read a file of this absolute path as a document or as a plug-in. */
export function isReadByConfig({ paths, plugins, origin }: Config, path: string): boolean {
  const patterns = [...PATH_KEYS.flatMap((key) => paths[key]), ...plugins.files];
  return patterns.some((pattern) => matchesGlob(path, resolve(origin.base_dir, pattern)));
}

/** Returns whether a pattern is a default. A default pattern may match no file without a warning. */
function isDefault(key: PathKey, pattern: string): boolean {
  const defaultPatterns: readonly string[] = spineSchema.properties.paths.properties[key].default;
  return defaultPatterns.includes(pattern);
}

async function addFile(files: Map<string, DocumentFile>, path: string, baseDir: string): Promise<void> {
  // A dangling link keeps its own name. Reading it reports the problem.
  const real = await realpath(path).catch(() => path);
  if (!files.has(real)) files.set(real, { path, label: buildFileLabel(path, baseDir) });
}

/** Returns the name of a file in messages: relative to the configuration's folder if the file is below it. */
export function buildFileLabel(path: string, baseDir: string): string {
  const label = relative(baseDir, path);
  return label.startsWith('..') || isAbsolute(label) ? path : label;
}

/** Matched files that are skipped: tests next to the documents or the code. */
const PASSED: Readonly<Record<'documents' | 'cases' | 'code', RegExp | null>> = {
  documents: /\.test\.ya?ml$/,
  cases: null,
  code: /\.(?:test|spec)\.[cm]?[jt]s$|\.d\.[cm]?ts$/,
};

/**
 * Finds the absolute paths of the files that match a pattern, sorted. `wrong` is the predicate of an error sentence.
 * `wanted` selects documents, test cases or code; files of the other kinds are skipped.
 */
export async function findFiles(
  pattern: string,
  baseDir: string,
  wanted: keyof typeof PASSED = 'documents',
): Promise<PatternRead> {
  const literal = resolve(baseDir, pattern);
  const there = await stat(literal).catch(() => null);
  if (there?.isDirectory())
    return { paths: [], wrong: 'is a folder; name its files, for instance with `/*.yaml` behind it' };
  if (there !== null) return { paths: [literal], wrong: null };
  if (!MAGIC.test(pattern))
    return { paths: [], wrong: 'names a file that does not exist or may not be read' };
  const from = await readFolderState(getStaticPart(pattern, baseDir));
  if (from === 'refused') return { paths: [], wrong: 'names a folder that may not be read by this user' };
  if (from === 'missing') return { paths: [], wrong: null };
  const paths: string[] = [];
  for await (const found of glob(pattern, { cwd: baseDir })) {
    const path = resolve(baseDir, found);
    if (await isFolder(path)) continue;
    if (PASSED[wanted]?.test(path)) continue;
    paths.push(path);
    if (paths.length > FILES_MAX) return { paths: [], wrong: `matches more than ${FILES_MAX} files` };
  }
  return { paths: paths.sort(), wrong: null };
}

/** Returns the folder of a pattern before its first wildcard. */
function getStaticPart(pattern: string, baseDir: string): string {
  const steps = pattern.split('/');
  const first = steps.findIndex((step) => MAGIC.test(step));
  const prefix = steps.slice(0, first).join('/');
  return resolve(baseDir, pattern.startsWith('/') ? join('/', prefix) : prefix);
}

/**
 * Returns the state of a folder. An unreadable folder must not count as empty, because its rules would be lost
 * silently.
 */
async function readFolderState(folder: string): Promise<'there' | 'missing' | 'refused'> {
  return readdir(folder).then(
    () => 'there',
    (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' || error.code === 'ENOTDIR' ? 'missing' : 'refused',
  );
}

async function isFolder(path: string): Promise<boolean> {
  const own = await lstat(path).catch(() => null);
  if (own === null) return false;
  const target = own.isSymbolicLink() ? await stat(path).catch(() => null) : own;
  return target?.isDirectory() ?? false;
}
