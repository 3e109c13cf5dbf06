import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { resolveStateDir } from '../../platform/files/state-folder.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { resolveRealPath } from '../../runtime/config/real-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a hook's configuration is, and probably its state, as far as one look tells. */
export interface Place {
  /** What is handed to whoever reads the configuration. */
  readonly path: string | null;
  readonly cwd: string;
  /** The file, with its links followed; `null`: there is none, and the defaults hold. */
  readonly config_file: string | null;
  /** The text of the file; `null` without one, or where it cannot be read. */
  readonly text: string | null;
  /** `null`: only who reads the configuration in full can tell. */
  readonly state_dir: string | null;
  /** The variables that hold for everything that is read here: those of the hook, and of no other process. */
  readonly env: Environment;
}

/** Where and as whom a process decides by itself. */
export interface Alone {
  readonly place: Place;
  readonly version: string;
  readonly caller: Caller;
}

const FILE_NAMES = ['service.yaml', 'service.yml'] as const;
const STATE_DIR = '.service';

/**
 * Finds the configuration as the program does, and the state folder without a parser of YAML. Nothing rests on the
 * folder being the right one: who answers there says for which configuration, and what is saved there too.
 */
export function placeOf(asked: string | null, env: Environment, cwd: string): Place {
  // A host says where its project is; its agent may have gone elsewhere since.
  const project = env.CLAUDE_PROJECT_DIR || env.GEMINI_PROJECT_DIR || cwd;
  const folder = existsSync(project) ? project : cwd;
  const named = asked ?? (env.SERVICE_CONFIG || null);
  const found = named ?? FILE_NAMES.find((name) => isThere(join(folder, name))) ?? null;
  if (found === null) {
    const state_dir = resolveStateDir(join(folder, STATE_DIR));
    return { path: null, cwd: folder, config_file: null, text: null, state_dir, env };
  }
  const base = named === null ? folder : cwd;
  const file = resolve(base, found);
  const text = textOf(file);
  const written = text === null ? null : stateDirIn(text, dirname(file), env);
  const state_dir = written === null ? null : resolveStateDir(written);
  return { path: found, cwd: base, config_file: resolveRealPath(file), text, state_dir, env };
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

const LINE = /^state_dir:[ \t]+(["']?)([^"'#\n\\{}]+|\$\{[A-Za-z_]\w*\}[^"'#\n\\{}]*)\1[ \t]*(?:#.*)?$/m;

function stateDirIn(text: string, base_dir: string, env: Environment): string | null {
  if (!text.includes('state_dir')) return resolve(base_dir, STATE_DIR);
  const written = LINE.exec(text)?.[2]?.trim();
  if (written === undefined) return null;
  const [, name, rest = ''] = /^\$\{(\w+)\}(.*)$/.exec(written) ?? [];
  if (name === undefined) return resolve(base_dir, written);
  const value = env[name];
  return value === undefined ? null : resolve(base_dir, value + rest);
}
