import type { Severity } from '../../../types/index.ts';
import type { GuardView } from '../../guard/paths.ts';
import type { Command } from '../../shell/syntax.ts';

/**
 * A dangerous command as a record: which programs it is about, what of their arguments makes it so, why that
 * matters, and what to do instead. It looks at commands as they would run: quotes, wrappers and variables are
 * gone, and what is only printed, searched for or committed is no command.
 *
 * `critical` is for what cannot be taken back or gives the machine away: the built-in rules block it as a tool
 * call. All else is flagged.
 */
export interface CommandRule {
  /** For example `git.reset_hard`, without the prefix `command.`, because events name the detector as well. */
  readonly id: string;
  readonly tag: `dangerous.${string}`;
  readonly severity: Severity;
  /** Program names in lower case, separated by blanks; `*` for all. */
  readonly programs: string;
  /** What it does and why that matters, in one sentence. */
  readonly description: string;
  /** A command that is not flagged and does what is usually meant, or shows what would happen. */
  readonly safer: string;
  readonly saw: (command: Command, guard: GuardView) => boolean;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}
