import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { PolicyLoadError } from '../errors.ts';
import { type PolicyDocument, type PolicySource, parseLocalSettings } from '../local/compile-source.ts';

const FILE_BYTES_MAX = 4_194_304;
const FILES_MAX = 2_000;
const ALIASES_MAX = 200;
const PATH_KEYS = ['policy_files', 'contract_files', 'identity_files', 'memory_schema_files'] as const;

/**
 * Reads `service.yaml` and the documents that it names.
 *
 * @throws PolicyLoadError if a file is missing or cannot be read as YAML
 */
export function readPolicyFiles(configPath: string): PolicySource {
  const path = resolve(configPath);
  const folder = dirname(path);
  const [config = {}] = readYamlFile(path, configPath);
  const source = { config, file: configPath };
  const settings = parseLocalSettings(source);
  const managed = join(resolve(folder, settings.state_dir), 'managed-policy.json');
  if (hasManagedPolicy(managed))
    throw new PolicyLoadError([
      `${configPath}: rules of this service are saved over its API, which a local guard cannot read. Use \`createClientGuard\`.`,
    ]);
  const patterns = PATH_KEYS.flatMap((key) => settings.paths[key]);
  const files = new Set(patterns.flatMap((pattern) => findFiles(pattern, folder)));
  if (files.size > FILES_MAX)
    throw new PolicyLoadError([`${configPath}: \`paths\` names more than ${FILES_MAX} files`]);
  return { ...source, documents: [...files].flatMap((file) => readDocuments(file, relative(folder, file))) };
}

/** Returns whether rules were saved over the API. A copy that cannot be read counts as one that has rules. */
function hasManagedPolicy(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    const saved: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof saved !== 'object' || saved === null || Array.isArray(saved)) return true;
    return Object.values(saved).some((part) => part !== null && !(Array.isArray(part) && part.length === 0));
  } catch {
    return true;
  }
}

function readDocuments(path: string, file: string): readonly PolicyDocument[] {
  return readYamlFile(path, file).map((value) => ({ file, value }));
}

function readYamlFile(path: string, file: string): readonly unknown[] {
  const text = readTextFile(path, file);
  const documents = parseAllDocuments(text, {
    uniqueKeys: true,
    prettyErrors: true,
    logLevel: 'silent',
    version: '1.2',
  });
  if ('empty' in documents) return [];
  return documents.map((document) => {
    const [fault] = [...document.errors, ...document.warnings];
    // The rest of a message quotes the text.
    if (fault !== undefined)
      throw new PolicyLoadError([`${file}: is not valid YAML: ${fault.message.split('\n', 1)[0] ?? ''}`]);
    return document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown;
  });
}

function readTextFile(path: string, file: string): string {
  try {
    if (statSync(path).size > FILE_BYTES_MAX)
      throw new PolicyLoadError([`${file}: has more than ${FILE_BYTES_MAX} bytes`]);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof PolicyLoadError) throw error;
    throw new PolicyLoadError([`${file}: does not exist, or this user may not read it`]);
  }
}

const MAGIC = /[*?[\]{}()!]/;
const UNSUPPORTED = /[[\]{}()!]/;

/** Finds the files of a pattern with `*`, `**` and `?`, sorted. A file that is named exactly must exist. */
function findFiles(pattern: string, folder: string): readonly string[] {
  if (!MAGIC.test(pattern)) return [resolve(folder, pattern)];
  if (UNSUPPORTED.test(pattern))
    throw new PolicyLoadError([`\`paths\`: the pattern \`${pattern}\` may use \`*\`, \`**\` and \`?\` only`]);
  const steps = resolve(folder, pattern).split('/');
  const first = steps.findIndex((step) => MAGIC.test(step));
  const found: string[] = [];
  walkFolder(steps.slice(0, first).join('/') || '/', steps.slice(first), found);
  return found.filter((file) => !/\.test\.ya?ml$/.test(file)).sort();
}

function walkFolder(folder: string, steps: readonly string[], found: string[]): void {
  const [step, ...rest] = steps;
  if (step === undefined || found.length > FILES_MAX) return;
  if (step === '**') walkFolder(folder, rest, found);
  for (const entry of listFolder(folder)) {
    const path = join(folder, entry);
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if (step === '**') {
      if (isFolder) walkFolder(path, steps, found);
    } else if (matchesStep(step, entry)) {
      if (isFolder) walkFolder(path, rest, found);
      else if (rest.length === 0) found.push(path);
    }
  }
}

/** Returns the entries of a folder. One that may not be read must not count as empty: its rules would be lost. */
function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw new PolicyLoadError([`\`paths\` names the folder ${folder}, which this user may not read`]);
  }
}

function matchesStep(step: string, name: string): boolean {
  if (!MAGIC.test(step)) return step === name;
  if (name.startsWith('.') && !step.startsWith('.')) return false;
  const pattern = step
    .replace(/[.+^$|\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  return new RegExp(`^${pattern}$`).test(name);
}
