import { basename, dirname, relative, resolve, sep } from 'node:path';
import { quoteArg } from '../../coding-agents/record/hook-command.ts';
import { PACKAGE_NAME } from '../../core/names.ts';

/** The start of this process. */
export interface ProgramStart {
  /** `process.argv[1]`: the script, as the shell or npm named it. */
  readonly script: string;
  readonly cwd: string;
  /** Set by the launcher of a checkout to the path that was typed, such as `./customshouse`. */
  readonly launcher: string | undefined;
}

/** A checkout's launcher, by any path and either name. Control characters in a path would act on the terminal that prints it. */
const LAUNCHER = /^[^\u0000-\u001f\u007f]*\/(?:service|customshouse)$/;

/**
 * Returns the words that start this program again when they are typed in the current folder, quoted for a POSIX shell:
 * `./customshouse` in a checkout, `customshouse` where npm put it into the PATH, `npx customshouse` in a project that has it.
 * A copy that npx made is named by its path, because npx would ask the registry for the name.
 */
export function findProgramName({ script, cwd, launcher }: ProgramStart): string {
  if (launcher !== undefined && LAUNCHER.test(launcher)) return quoteArg(launcher);
  const path = resolve(cwd, script);
  const name = basename(path);
  if (name === 'main.ts' || name === 'main.mjs') return PACKAGE_NAME;
  if (name.endsWith('.js')) return `node ${quoteArg(relative(cwd, path))}`;
  if (name !== PACKAGE_NAME) return PACKAGE_NAME;
  if (path.includes(`${sep}_npx${sep}`)) return quoteArg(path);
  return dirname(path).endsWith(`${sep}node_modules${sep}.bin`) ? `npx ${PACKAGE_NAME}` : PACKAGE_NAME;
}
