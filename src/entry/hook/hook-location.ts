import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { resolveStateDir } from '../../platform/files/state-folder.ts';
import { findProjectConfigFolder } from '../../platform/files/user-folder.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { resolveRealPath } from '../../runtime/config/real-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The location of a hook's configuration, and its probable state folder, found without a full parse. */
export interface HookLocation {
  /** The path for the parser of the configuration. */
  readonly path: string | null;
  readonly cwd: string;
  /** The file without symbolic links; `null` if there is none and the defaults apply. */
  readonly config_file: string | null;
  /** The text of the file; `null` if there is none or it cannot be read. */
  readonly text: string | null;
  /** `null` if only a full parse of the configuration can find it. */
  readonly state_dir: string | null;
  /**
   * The environment variables of the hook, which apply to everything that is read for it. Those of the daemon do not.
   */
  readonly env: Environment;
}

/** The configuration, version and caller with which a process decides by itself. */
export interface LocalContext {
  readonly location: HookLocation;
  readonly version: string;
  /** The operating system user, for whom an agent without a token acts. */
  readonly caller: Caller;
  /** The user that the environment names, and the signed token of a person; `null` for none. */
  readonly user: string;
  readonly user_token: string | null;
}

const FILE_NAMES = ['service.yaml', 'service.yml'] as const;
const STATE_DIR = '.service';

/**
 * Finds the configuration as every command does, and the state folder without a YAML parser. A wrong folder is
 * harmless: the process that answers there and the policy that is saved there both name their configuration.
 */
export function findHookLocation(configPath: string | null, env: Environment, cwd: string): HookLocation {
  // The agent's variable names its project, because its working folder may have changed.
  const project = env.CLAUDE_PROJECT_DIR || env.GEMINI_PROJECT_DIR || cwd;
  const folder = existsSync(project) ? project : cwd;
  const named = configPath ?? (env.SERVICE_CONFIG || null);
  const found = named ?? findConfigFile(folder, env);
  if (found === null) {
    const stateDir = resolveStateDir(join(folder, STATE_DIR));
    return { path: null, cwd: folder, config_file: null, text: null, state_dir: stateDir, env };
  }
  const base = named === null ? folder : cwd;
  const file = resolve(base, found);
  const text = readTextOrNull(file);
  const written = text === null ? null : parseStateDir(text, dirname(file), env);
  const stateDir = written === null ? null : resolveStateDir(written);
  return { path: found, cwd: base, config_file: resolveRealPath(file), text, state_dir: stateDir, env };
}

/** Returns a folder's configuration, or the one that setup keeps for it at home; `null` if there is none. */
function findConfigFile(folder: string, env: Environment): string | null {
  const own = FILE_NAMES.find((name) => pathExists(join(folder, name)));
  if (own !== undefined) return own;
  const kept = findProjectConfigFolder(folder, env);
  if (kept === null || !pathExists(join(kept, FILE_NAMES[0]))) return null;
  return join(kept, FILE_NAMES[0]);
}

function pathExists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function readTextOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

const STATE_DIR_LINE =
  /^state_dir:[ \t]+(["']?)([^"'#\n\\{}]+|\$\{[A-Za-z_]\w*\}[^"'#\n\\{}]*)\1[ \t]*(?:#.*)?$/m;

function parseStateDir(text: string, baseDir: string, env: Environment): string | null {
  if (!text.includes('state_dir')) return resolve(baseDir, STATE_DIR);
  const written = STATE_DIR_LINE.exec(text)?.[2]?.trim();
  if (written === undefined) return null;
  const [, name, rest = ''] = /^\$\{(\w+)\}(.*)$/.exec(written) ?? [];
  if (name === undefined) return resolve(baseDir, written);
  const value = env[name];
  return value === undefined ? null : resolve(baseDir, value + rest);
}
