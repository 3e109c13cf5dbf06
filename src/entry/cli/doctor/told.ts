import { toldTo } from '../../../coding-agents/hosts/command.ts';
import { withProjectFolder, wordsOf } from '../../../coding-agents/hosts/index.ts';
import { type HookOptions, readOptions, UsageFailure } from '../../hook/options.ts';
import type { InstalledHook } from './hosts/host.ts';

/** What the command of a hook says, as far as it can be told without a shell. */
export interface Told {
  /** Program and arguments up to the word `hook`. */
  readonly program: readonly string[];
  /** `null`: the hook itself would refuse its options, for this reason. */
  readonly options: HookOptions | null;
  readonly complaint: string | null;
  /** Whether a shell puts something in that is not known here. */
  readonly is_open: boolean;
}

/** Reads the command of a hook of this program, which may name the folder `project` by a variable of its host. */
export function toldBy({ command, args }: InstalledHook, project: string): Told {
  const written = args === null ? wordsOf(command) : [command, ...args];
  const words = written.map((word) => withProjectFolder(word, project));
  const rest = toldTo('hook', words) ?? [];
  const program = words.slice(0, words.length - rest.length - 1);
  const is_open = args === null && /[$`*?~]/.test(withProjectFolder(command, ''));
  try {
    return { program, options: readOptions(rest), complaint: null, is_open };
  } catch (failure) {
    if (!(failure instanceof UsageFailure)) throw failure;
    return { program, options: null, complaint: failure.message, is_open };
  }
}
