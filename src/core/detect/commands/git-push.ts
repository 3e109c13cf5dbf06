import { memoize } from '../../memoize.ts';
import type { Severity } from '../../types/index.ts';
import type { Command } from '../shell/syntax.ts';

/** The branches that a push overwrites or deletes without a check of their commits. */
interface LossyPush {
  /** Their names, without `refs/heads/`; none if git chooses them. */
  readonly branches: readonly string[];
  /** True if it overwrites or deletes all branches. */
  readonly is_whole: boolean;
}

/** Options of git before its verb that take a value. */
const GIT_VALUES = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--config-env',
  '--exec-path',
]);
const PUSH_VALUES = new Set(['-o', '--push-option', '--receive-pack', '--exec', '--repo']);

/** Returns the words from the verb on, without git's own options before it. */
export function listVerbAndRest({ words }: Command): readonly string[] {
  let at = 0;
  while (at < words.length && words[at]!.text.startsWith('-')) at += GIT_VALUES.has(words[at]!.text) ? 2 : 1;
  return words.slice(at).map(({ text }) => text);
}

/** Returns what a push loses; `null` if it loses nothing. `--force` turns off the check of `--force-with-lease`. */
export const findLossyPush: (command: Command) => LossyPush | null = memoize((command: Command) => {
  const [verb, ...words] = listVerbAndRest(command);
  if (verb !== 'push') return null;
  const { flags, operands } = sortPushWords(words);
  if (flags.has('dry-run')) return null;
  const [repository = '', ...others] = operands;
  const refs = /^[+:]/.test(repository) ? operands : others;
  const isForced = flags.has('force');
  const lost = refs.filter((ref) => isForced || flags.has('delete') || /^(?:\+|:.)/.test(ref));
  const isPruned = flags.has('mirror') || flags.has('prune');
  if (!isForced && !flags.has('delete') && !isPruned && lost.length === 0) return null;
  const branches = (isPruned ? refs : lost).map(getDestination);
  const isWhole =
    flags.has('mirror') ||
    (flags.has('all') && (isForced || isPruned)) ||
    branches.some((each) => each === '*' || each === '');
  return { branches, is_whole: isWhole };
});

/** Sorts the words of a push into flags and operands. A later `--no-force` takes `--force` back. */
function sortPushWords(words: readonly string[]): {
  readonly flags: ReadonlySet<string>;
  readonly operands: readonly string[];
} {
  const flags = new Set<string>();
  const operands: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (PUSH_VALUES.has(word)) at += 1;
    else if (word.startsWith('--no-')) flags.delete(word.slice(5));
    else if (word.startsWith('--')) flags.add(nameFlag(word));
    else if (!word.startsWith('-')) operands.push(word);
    // The rest of a cluster after `o` is its value.
    else for (const letter of word.slice(1).replace(/o.*$/s, '')) flags.add(SHORT_FLAGS[letter] ?? letter);
  }
  return { flags, operands };
}

/** Returns the flag of a long option. A value is dropped: programs that call git may write `--force=true`. */
function nameFlag(word: string): string {
  const [name = ''] = word.slice(2).split('=');
  return name === 'branches' ? 'all' : name;
}

const SHORT_FLAGS: Readonly<Record<string, string>> = { d: 'delete', f: 'force', n: 'dry-run' };

/** Returns the branch that a reference names at the remote: `+HEAD~3:refs/heads/main` is `main`. */
function getDestination(ref: string): string {
  return ref
    .slice(ref.lastIndexOf(':') + 1)
    .replace(/^\+/, '')
    .replace(/^(?:refs\/)?heads\//, '');
}

/** Branches that others build on. */
const SHARED = /^(?:main|master|trunk|develop|production|release[\w./-]*)$/;

/** Grades a push that loses commits: `critical` for the branches that others build on. */
export function gradePush(command: Command): Severity {
  const push = findLossyPush(command);
  return push?.is_whole === true || push?.branches.some((each) => SHARED.test(each)) === true
    ? 'critical'
    : 'high';
}
