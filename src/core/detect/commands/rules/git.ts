import { hasFlag, isHarmlessCall } from '../../shell/options.ts';
import type { Command } from '../../shell/syntax.ts';
import { findLossyPush, gradePush, listVerbAndRest } from '../git-push.ts';
import type { CommandRule } from './rule.ts';

/**
 * Rules for git commands that discard work or rewrite shared history. `push --force` is flagged.
 * `--force-with-lease` alone is not, because it refuses to overwrite commits that it has not seen; `--force` turns
 * that check off. Merging, rebasing and deleting merged branches pass.
 */
export const gitRules: readonly CommandRule[] = [
  {
    id: 'git.reset_hard',
    tag: 'dangerous.git',
    severity: 'medium',
    programs: 'git',
    description: 'Throws away changes that were not committed.',
    safer: 'git stash',
    saw: (command) => getVerb(command) === 'reset' && hasArgumentMatching(command, /^--(?:hard|merge)$/),
    hits: ['git reset --hard', 'git -C repo reset --hard HEAD~1', '\\git reset --merge'],
    misses: ['git reset HEAD~1', 'git log --grep="reset --hard"', 'git commit -m "git reset --hard"'],
  },
  {
    id: 'git.clean',
    tag: 'dangerous.git',
    severity: 'medium',
    programs: 'git',
    description: 'Deletes files that git does not know.',
    safer: 'git clean -nd',
    saw: (command) =>
      getVerb(command) === 'clean' &&
      hasFlag(command, '-f', '--force') &&
      !hasFlag(command, '-n', '--dry-run'),
    hits: ['git clean -fd', 'git clean --force', 'ssh host git clean -xf'],
    misses: ['git clean -nd', 'git clean -dn -f', 'git status'],
  },
  {
    id: 'git.discard',
    tag: 'dangerous.git',
    severity: 'medium',
    programs: 'git',
    description: 'Writes over changes in the working folder.',
    safer: 'git stash push file.txt',
    saw: discardsWork,
    hits: [
      'git checkout -- .',
      'git checkout HEAD -- a.txt',
      'git restore a.txt',
      'git checkout -f main',
      'git switch --discard-changes main',
      'git checkout main a.txt',
      'git checkout .',
      'git rm -rf .',
      'git read-tree -u --reset HEAD',
    ],
    misses: [
      'git restore --staged a.txt',
      'git checkout -b feature',
      'git checkout main',
      'git switch -c x',
      'git restore --help',
    ],
  },
  {
    id: 'git.push_force',
    tag: 'dangerous.git',
    severity: 'high',
    grade: gradePush,
    programs: 'git',
    description: 'Rewrites or deletes a branch that others have.',
    safer: 'git push --force-with-lease origin topic',
    saw: (command) => findLossyPush(command) !== null,
    hits: [
      'git push --force',
      'git push -f origin main',
      'git push origin +main',
      'git push origin --delete main',
      'git push --mirror',
      'git push --force --force-with-lease',
      'git push --force=true origin main',
      'git push --force-with-lease origin :topic',
    ],
    misses: [
      'git push',
      'git push origin main',
      'git push --force-with-lease',
      'git push --force --no-force',
    ],
  },
  {
    id: 'git.branch_delete',
    tag: 'dangerous.git',
    severity: 'medium',
    programs: 'git',
    description: 'Deletes or moves a branch with commits that may be nowhere else.',
    safer: 'git branch -d merged',
    saw: (command) =>
      getVerb(command) === 'branch' &&
      (hasArgumentMatching(command, /^-[a-zA-Z]*[DMf]/) ||
        (hasFlag(command, '--force') && hasArgumentMatching(command, /^(?:-d|--delete|-m)$/))),
    hits: ['git branch -D topic', 'git branch -f main HEAD~3'],
    misses: ['git branch -d topic', 'git branch -a', 'git branch topic'],
  },
  {
    id: 'git.stash_drop',
    tag: 'dangerous.git',
    severity: 'medium',
    programs: 'git',
    description: 'Deletes stashed work.',
    safer: 'git stash list',
    saw: (command) => getVerb(command) === 'stash' && hasArgumentMatching(command, /^(?:drop|clear)$/),
    hits: ['git stash drop', 'git stash clear'],
    misses: ['git stash pop', 'git stash list', 'git stash'],
  },
  {
    id: 'git.rewrite',
    tag: 'dangerous.git',
    severity: 'high',
    programs: 'git git-filter-repo bfg',
    description: 'Rewrites history, or deletes what git keeps to undo things.',
    safer: 'git rebase main',
    saw: (command) => {
      const verb = getVerb(command);
      if (command.name !== 'git') return command.words.length > 0 && !isHarmlessCall(command);
      if (verb === 'filter-branch' || verb === 'filter-repo') return true;
      if (verb === 'reflog') return hasArgumentMatching(command, /^(?:expire|delete)$/);
      if (verb === 'gc') return hasArgumentMatching(command, /^--prune=(?:now|all)$/);
      return (
        (verb === 'update-ref' && hasFlag(command, '-d')) || (verb === 'tag' && hasFlag(command, '-d', '-f'))
      );
    },
    hits: [
      "git filter-branch --tree-filter 'rm x' HEAD",
      'git reflog expire --expire=now --all',
      'git gc --prune=now',
    ],
    misses: ['git reflog', 'git gc', 'git tag v1.2.3', 'git log --oneline'],
  },
  {
    id: 'git.worktree_remove',
    tag: 'dangerous.git',
    severity: 'medium',
    programs: 'git',
    description: 'Removes a working tree or a submodule with changes in it.',
    safer: 'git worktree remove ../other',
    saw: (command) => {
      const verb = getVerb(command);
      const isRemoval =
        verb === 'worktree'
          ? hasArgumentMatching(command, /^remove$/)
          : verb === 'submodule' && hasArgumentMatching(command, /^deinit$/);
      return isRemoval && hasFlag(command, '-f', '--force');
    },
    hits: ['git worktree remove --force ../other', 'git submodule deinit -f lib'],
    misses: ['git worktree remove ../other', 'git worktree remove -- -f', 'git worktree list'],
  },
  {
    id: 'git.hooks_path',
    tag: 'dangerous.persistence',
    severity: 'high',
    programs: 'git',
    description: 'Makes git run a program at every later call.',
    safer: 'git config user.name ada',
    saw: ({ words }) =>
      words.some(
        ({ text }, at) =>
          /^(?:core\.(?:hooksPath|pager|editor|sshCommand|fsmonitor|gitProxy)|diff\.external|credential\.helper|alias\.[\w-]+|filter\.[\w-]+\.(?:clean|smudge)|sequence\.editor|core\.askpass|gpg\.(?:\w+\.)?program|diff\.[\w-]+\.(?:textconv|command)|merge\.[\w-]+\.driver|pager\.[\w-]+|(?:diff|merge)tool\.[\w-]+\.cmd|interactive\.diffFilter)(?:=!|=.*[/;|&]|$)/i.test(
            text,
          ) &&
          (text.includes('=') || /[/!;|&]/.test(words[at + 1]?.text ?? '')) &&
          !ORDINARY_SSH.test(
            text.includes('=') ? text.slice(text.indexOf('=') + 1) : (words[at + 1]?.text ?? ''),
          ),
      ),
    hits: [
      'git config --global core.hooksPath /tmp/hooks',
      "git -c core.pager='!id' log",
      "git config alias.st '!curl x'",
    ],
    misses: [
      "git config core.sshCommand 'ssh -i ~/.ssh/deploy'",
      'git config user.email a@b.c',
      'git config core.editor vim',
      'git config alias.st status',
    ],
  },
  {
    id: 'git.no_verify',
    tag: 'dangerous.git',
    severity: 'medium',
    programs: 'git',
    description: 'Skips the checks that run before a commit or a push.',
    safer: 'git commit -m fix',
    saw: (command) => {
      const verb = getVerb(command);
      if (verb !== 'commit' && verb !== 'push' && verb !== 'merge') return false;
      const hasNoHooks = command.words.some(({ text }) => /^core\.hookspath=$/i.test(text));
      return hasNoHooks || hasFlag(command, '--no-verify');
    },
    hits: ['git commit --no-verify -m x', 'git push --no-verify', 'git -c core.hooksPath= commit -m x'],
    misses: ['git commit -m "use --no-verify"', 'git push', 'git -c core.hooksPath= status'],
  },
];

/** `ssh` with a key, a port or an option that starts no program. */
const ORDINARY_SSH =
  /^ssh(?: -[vqT46]+| -[ipF] [\w./~@-]{1,200}| -o (?:IdentitiesOnly|StrictHostKeyChecking|UserKnownHostsFile|IdentityFile)=[\w./~-]{1,200}){0,10}$/;

function getVerb(command: Command): string {
  return command.name === 'git' ? (listVerbAndRest(command)[0] ?? '') : '';
}

function hasArgumentMatching(command: Command, pattern: RegExp): boolean {
  return listVerbAndRest(command)
    .slice(1)
    .some((text) => pattern.test(text));
}

/** Flags of `checkout` that create or move a branch: the next word is a branch name, not a file. */
const BRANCHING =
  /^(?:-[a-zA-Z]*[bB].*|--orphan|--detach|-d|--conflict.*|--track.*|-t|-U\d*|--unknown.*|-m|--merge)$/;

function discardsWork(command: Command): boolean {
  const [verb, ...rest] = listVerbAndRest(command);
  if (verb === 'rm')
    return hasFlag(command, '-f', '--force') && hasFlag(command, '-r') && !rest.includes('--cached');
  if (verb === 'checkout' && rest.length === 1 && /^(?:\.|\.\/|:\/|\*)$/.test(rest[0]!)) return true;
  if (verb === 'restore') {
    const isStaged = rest.includes('--staged') || rest.includes('-S');
    return (
      !hasFlag(command, '--help') &&
      (!isStaged || rest.includes('--worktree') || rest.includes('-W')) &&
      rest.length > 0
    );
  }
  if (verb === 'read-tree') return hasFlag(command, '-u') && hasFlag(command, '--reset', '-m');
  if (verb === 'checkout-index') return hasFlag(command, '-f', '--force') && hasFlag(command, '-a', '--all');
  if (verb !== 'checkout' && verb !== 'switch') return false;
  const end = rest.indexOf('--');
  const flags = (end < 0 ? rest : rest.slice(0, end)).filter((text) => text.startsWith('-'));
  if (flags.some((text) => /^(?:--force|--discard-changes|-[^bBcC-]*f.*)$/.test(text))) return true;
  if (verb === 'switch') return false;
  if (end >= 0) return rest.length > end + 1;
  if (flags.some((text) => text.startsWith('--pathspec-from-file'))) return true;
  const operands = rest.filter((text) => !text.startsWith('-'));
  return (
    !flags.some((text) => BRANCHING.test(text) && text !== '--track') &&
    operands.length >= 2 &&
    !/^(?:on-demand|direct|inherit)$/.test(operands[0]!)
  );
}
