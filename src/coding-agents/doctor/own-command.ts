import { realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { parseHookOptions, UsageFailure } from '../hook-options.ts';
import type { ConfiguredHook } from '../record/doctor.ts';
import {
  findOurArguments,
  formatHookCommand,
  type HookCommand,
  listHookArguments,
  splitCommand,
} from '../record/hook-command.ts';
import type { AgentSettings } from '../record/settings.ts';
import { findInPath, type HookSurroundings } from './check-hook.ts';

/** The longest part of a foreign command that a report shows, in UTF-16 units. */
const WORD_CHARS_MAX = 200;

/** The command of a hook as arguments of this program. */
export interface OwnCommand {
  /** This program and its arguments. A settings file never names the file that runs. */
  readonly words: readonly string[];
  /** True if the written line turns every failure into exit code 2. */
  readonly guards_exit: boolean;
}

/**
 * Returns how to run a hook without a shell, or the reason not to run it, as the predicate of a sentence. Settings come
 * with a project, so an entry runs only if it is to the character what `formatHookCommand` writes for this program.
 * @param own the words that start this program, as setup writes them
 */
export async function resolveOwnCommand(
  { command, args, cwd, env }: ConfiguredHook,
  settings: AgentSettings,
  own: readonly string[],
  surroundings: HookSurroundings,
): Promise<OwnCommand | string> {
  if (args !== null || cwd !== null || Object.keys(env).length > 0)
    return 'has `args`, `cwd` or `env`, which setup does not write';
  const written = parseWrittenCommand(command, settings);
  if (written === null) return 'is not the text that setup writes';
  const { program, config, project_folder, guards_exit } = written;
  if (!(await isOwnProgram(program, own, surroundings)))
    return `starts \`${program.join(' ').slice(0, WORD_CHARS_MAX)}\`, which is not this program (\`${own.join(' ')}\`)`;
  const path = project_folder === undefined ? config : join(surroundings.project, config);
  return { words: [...listHookArguments({ ...written, program: own }), path], guards_exit };
}

/** Parses a line that `formatHookCommand` writes for an agent; `null` for any other. */
function parseWrittenCommand(
  line: string,
  { project_folder, guards_exit }: AgentSettings,
): HookCommand | null {
  const words = splitCommand(line);
  const rest = findOurArguments('hook', words) ?? [];
  const options = parseOptions(rest);
  if (options === null || options.config === null || options.dialect === null) return null;
  const { config, dialect, event, agent, tenant, timeout_ms } = options;
  const program = words.slice(0, words.length - rest.length - 1);
  const extra = Object.entries({ '--agent': agent, '--tenant': tenant, '--timeout-ms': timeout_ms }).flatMap(
    ([name, value]) => (value === null ? [] : [name, String(value)]),
  );
  const prefix = `${splitCommand(project_folder).join(' ')}/`;
  const place = isAbsolute(config) ? { config } : { config: config.slice(prefix.length), project_folder };
  const command = { ...place, program, dialect, event, extra, guards_exit };
  return formatHookCommand(command) === line ? command : null;
}

function parseOptions(words: readonly string[]): ReturnType<typeof parseHookOptions> | null {
  try {
    return parseHookOptions(words);
  } catch (failure) {
    if (failure instanceof UsageFailure) return null;
    throw failure;
  }
}

/** Returns whether words start the file with which this program runs. A bare name is looked up in the `PATH`. */
async function isOwnProgram(
  program: readonly string[],
  own: readonly string[],
  surroundings: HookSurroundings,
): Promise<boolean> {
  const script = program.at(-1) ?? '';
  if (program.length > 2 || (program.length === 2 && !(await isSameFile(program[0]!, process.execPath))))
    return false;
  const path = script.includes('/') ? script : await findInPath(script, surroundings);
  return path !== null && isSameFile(path, own.at(-1)!);
}

async function isSameFile(path: string, own: string): Promise<boolean> {
  if (path === own) return true;
  const [found, wanted] = await Promise.all([path, own].map((each) => realpath(each).catch(() => null)));
  return isAbsolute(path) && found !== null && found === wanted;
}
