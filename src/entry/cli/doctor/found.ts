import { readFile, realpath, stat } from 'node:fs/promises';
import { SettingsFailure } from '../../../coding-agents/hosts/document.ts';
import {
  filesOf,
  type Host,
  installed,
  type Machine,
  readDocument,
  type Scope,
  type SettingsPlace,
} from '../../../coding-agents/hosts/index.ts';
import { type Check, fail, type Place } from './check.ts';
import { type InstalledHook, isObject } from './hosts/host.ts';

/** The largest settings file that is read, in bytes. */
const FILE_BYTES_MAX = 4_194_304;

/** A settings file of a host that is there. */
export interface FoundFile {
  readonly place: SettingsPlace;
  /** The path without links, by which a host may know it. */
  readonly real_path: string;
  readonly document: unknown;
  /** Hooks of this program. */
  readonly hooks: readonly InstalledHook[];
  /** Hooks of others, which are left alone. */
  readonly other_count: number;
  readonly mtime_ms: number;
}

/** What stands in the settings of one host. */
export interface FoundHost {
  readonly host: Host;
  readonly files: readonly FoundFile[];
  /** Files that are there and cannot be read. */
  readonly checks: readonly Check[];
}

/** Reads the settings files of a host, those of one scope or all. */
export async function findHooks(host: Host, machine: Machine, scope: Scope | null): Promise<FoundHost> {
  const places = host.places(machine).filter((place) => scope === null || place.scope === scope);
  const checks: Check[] = [];
  const files: FoundFile[] = [];
  for (const place of await filesOf(places)) {
    const where: Place = { host: host.name, scope: place.scope, file: place.path, event: null };
    try {
      const found = await readOne(host, place);
      if (found !== null) files.push(found);
    } catch (error) {
      checks.push(unreadable(where, error));
    }
  }
  return { host, files, checks };
}

/** `null`: it is not there. */
async function readOne(host: Host, place: SettingsPlace): Promise<FoundFile | null> {
  const stats = await stat(place.path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (stats === null) return null;
  if (!stats.isFile()) throw new SettingsFailure('is no file');
  if (stats.size > FILE_BYTES_MAX) throw new SettingsFailure(`has more than ${FILE_BYTES_MAX} bytes`);
  const text = await readFile(place.path, 'utf8');
  const document = readDocument(text, place.format);
  const all = installed(host, text, place.format);
  const ours = all.filter(({ is_ours }) => is_ours);
  return {
    place,
    real_path: await realpath(place.path),
    document,
    hooks: ours.map((hook) => whole(hook, memberAt(document, hook.path))),
    other_count: all.length - ours.length,
    mtime_ms: stats.mtimeMs,
  };
}

function unreadable(where: Place, error: unknown): Check {
  const { message, code } = error as NodeJS.ErrnoException;
  const what = error instanceof SettingsFailure ? message : `cannot be read (${code ?? 'unknown'})`;
  return fail(
    'settings.readable',
    where,
    `The file ${what}, so the coding agent may ignore its hooks.`,
    'Fix the file, or delete it and run `service setup` again.',
  );
}

/** With what else stands in its entry. */
function whole(
  hook: Omit<InstalledHook, 'cwd' | 'env' | 'in_background'>,
  entry: Readonly<Record<string, unknown>>,
): InstalledHook {
  const env = isObject(entry.env) ? entry.env : {};
  return {
    ...hook,
    cwd: typeof entry.cwd === 'string' ? entry.cwd : null,
    env: Object.fromEntries(Object.entries(env).filter(([, value]) => typeof value === 'string')) as Record<
      string,
      string
    >,
    in_background: entry.async === true || entry.asyncRewake === true,
  };
}

/** The members of what stands at a path of a document; none where it is no object. */
export function memberAt(
  document: unknown,
  path: readonly (string | number)[],
): Readonly<Record<string, unknown>> {
  let value = document;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return {};
    value = (value as Record<string | number, unknown>)[key];
  }
  return isObject(value) ? value : {};
}
