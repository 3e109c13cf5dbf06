import { type HookOptions, parseHookOptions, UsageFailure } from '../hook-options.ts';
import type { ConfiguredHook } from '../record/doctor.ts';
import { findOurArguments, replaceProjectFolder, splitCommand } from '../record/hook-command.ts';
import type { AgentSettings } from '../record/settings.ts';

/** The command of a hook, as far as it can be parsed without a shell. */
export interface ParsedHookCommand {
  /** The program and its arguments before the word `hook`. */
  readonly program: readonly string[];
  /** `null` if the hook would refuse its options. */
  readonly options: HookOptions | null;
  /** The reason why the hook would refuse its options; `null` if it accepts them. */
  readonly complaint: string | null;
  /** True if a shell replaces parts of the command with values that are unknown here. */
  readonly has_substitutions: boolean;
}

/** Parses the command of a hook of this program. Variables for the project's folder are replaced with `project`. */
export function parseHookCommand(
  { command, args }: ConfiguredHook,
  { project_variables }: AgentSettings,
  project: string,
): ParsedHookCommand {
  const written = args === null ? splitCommand(command) : [command, ...args];
  const words = written.map((word) => replaceProjectFolder(word, project_variables, project));
  const rest = findOurArguments('hook', words) ?? [];
  const program = words.slice(0, words.length - rest.length - 1);
  const hasSubstitutions =
    args === null && /[$`*?~]/.test(replaceProjectFolder(command, project_variables, ''));
  try {
    return { program, options: parseHookOptions(rest), complaint: null, has_substitutions: hasSubstitutions };
  } catch (failure) {
    if (!(failure instanceof UsageFailure)) throw failure;
    return { program, options: null, complaint: failure.message, has_substitutions: hasSubstitutions };
  }
}
