import type { Severity } from '../../../types/index.ts';
import type { GuardView } from '../../guard/paths.ts';
import type { Command } from '../../shell/syntax.ts';
import type { PowerShellFlow } from '../powershell-flow.ts';

/**
 * A rule for dangerous commands: the programs, the condition on their arguments, the reason, and a safer
 * command. It applies to commands as they would run, after quotes, wrappers and variables are resolved. Text
 * that is only printed, searched for or committed is not a command.
 * `critical` is for effects that cannot be undone or that give the machine away; the built-in rules block
 * those in tool calls. All other severities are flagged.
 */
export interface CommandRule {
  /** For example `git.reset_hard`, without the prefix `command.`, because events name the detector as well. */
  readonly id: string;
  readonly tag: `dangerous.${string}`;
  readonly severity: Severity;
  /**
   * Returns the severity of a matching command by what it can lose and how far it reaches, instead of `severity`. `next`
   * is the command behind it in the same script.
   */
  readonly grade?: (command: Command, next?: Command) => Severity;
  /** Program names in lower case, separated by blanks; `*` for all. */
  readonly programs: string;
  /** The effect of the command and why it matters, in one sentence. */
  readonly description: string;
  /** A command that is not flagged and does the usual task, or previews the effect. */
  readonly safer: string;
  readonly saw: (command: Command, guard: GuardView) => boolean;
  /** The end of a flow in PowerShell at which the rule matches, besides the commands that it saw. */
  readonly flow?: PowerShellFlow['effect'];
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}
