import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_NAME } from '../../../core/names.ts';
import { getPackageVersion } from '../../../platform/version.ts';

/** The start of this process. */
export interface ProcessStart {
  /** The path of this file, with links resolved. */
  readonly here: string;
  /** `process.argv[1]`. */
  readonly script: string;
  /** The path of the running Node. */
  readonly node: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The command with which coding agents start this program. */
export interface InstalledProgram {
  /** Absolute paths. A checkout is started by its script `service`. */
  readonly words: readonly string[];
  /** The folder to copy first, because npx clears the folder from which it ran; `null` if no copy is needed. */
  readonly copy: { readonly from: string; readonly to: string } | null;
}

/** Returns the command with which coding agents start this program, based on how this process was started. */
export function findProgram(started: Partial<ProcessStart> = {}): InstalledProgram {
  const { here = fileURLToPath(import.meta.url), env = process.env, node = process.execPath } = started;
  if (here.endsWith('.ts')) return { words: [join(here, '../../../../../service')], copy: null };
  const script = resolve(started.script ?? process.argv[1] ?? '');
  if ([script, here].some((path) => path.includes(`${sep}_npx${sep}`)))
    return planCopiedProgram(here, node, env);
  // The file may not be executable if Node was started with it.
  return { words: script.endsWith('.js') ? [node, script] : [script], copy: null };
}

/** Plans a copy to a permanent folder, because a coding agent treats a missing hook as an allow. */
function planCopiedProgram(here: string, node: string, env: ProcessStart['env']): InstalledProgram {
  const folder = here.slice(0, here.lastIndexOf(`${sep}node_modules${sep}${PACKAGE_NAME}${sep}`));
  const from = join(folder, 'node_modules');
  const data = env.XDG_DATA_HOME || join(env.HOME || homedir(), '.local/share');
  const to = join(data, PACKAGE_NAME, `${getPackageVersion()}-${getFingerprint(from)}`);
  const moved = (path: string) =>
    path.startsWith(from) ? join(to, 'node_modules', path.slice(from.length)) : path;
  return {
    words: [moved(node), join(to, 'node_modules', PACKAGE_NAME, 'dist/entry/cli/bin.js')],
    copy: { from, to },
  };
}

/** Returns a fingerprint of a set of installed packages, from the lock file that npm writes next to them. */
function getFingerprint(modules: string): string {
  const lock = join(modules, '.package-lock.json');
  const text = existsSync(lock) ? readFileSync(lock) : '';
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** Package parts that only a browser or a compiler reads, at their places in `node_modules`. */
const UNCOPIED_PARTS = new RegExp(`^/${PACKAGE_NAME}/dist/(?:guide|web)$|\\.d\\.ts$`);

/** Returns whether the copy needs a file or folder in `node_modules`. Node packages are needed for the running `node` only. */
function isCopied(path: string, node: string): boolean {
  if (/^\/node(?:-[a-z]+-[a-z0-9]+)?(?:\/|$)/.test(path)) return path === node || node.startsWith(`${path}/`);
  return !UNCOPIED_PARTS.test(path);
}

/** Copies the program to the permanent folder. An existing copy is used unchanged. */
export async function copyProgram({ from, to }: NonNullable<InstalledProgram['copy']>): Promise<void> {
  if (existsSync(to)) return;
  const unfinished = `${to}.${process.pid}`;
  await mkdir(dirname(to), { recursive: true });
  try {
    const toName = (path: string): string => path.slice(from.length).replaceAll(sep, '/');
    const node = process.execPath.startsWith(from) ? toName(process.execPath) : '';
    const filter = (path: string): boolean => isCopied(toName(path), node);
    await cp(from, join(unfinished, 'node_modules'), { recursive: true, verbatimSymlinks: true, filter });
    await rename(unfinished, to);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(to)) throw error;
  }
}
