/**
 * Programs that run what stands behind them. `takes_value` are the flags that have a word of their own behind
 * them, `skips` the operands before the command (`timeout 5 rm`).
 */
export interface Wrapper {
  readonly takes_value: readonly string[];
  readonly skips: number;
  /** Whether `NAME=value` may stand before the command. */
  readonly has_assignments: boolean;
}

function wrapper(takes_value: string, skips = 0, has_assignments = false): Wrapper {
  return { takes_value: takes_value === '' ? [] : takes_value.split(' '), skips, has_assignments };
}

export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map([
  ['sudo', wrapper('-u -g -h -p -C -r -t -U -D -T -R --user --group --host --chdir', 0, true)],
  ['doas', wrapper('-u -C')],
  ['env', wrapper('-u -C -P --unset --chdir', 0, true)],
  ['nohup', wrapper('')],
  ['setsid', wrapper('')],
  ['time', wrapper('-f -o')],
  ['nice', wrapper('-n')],
  ['ionice', wrapper('-c -n')],
  ['timeout', wrapper('-k -s --signal --kill-after', 1)],
  ['gtimeout', wrapper('-k -s --signal --kill-after', 1)],
  ['stdbuf', wrapper('-i -o -e')],
  ['command', wrapper('')],
  ['builtin', wrapper('')],
  ['exec', wrapper('-a')],
  ['chroot', wrapper('', 1)],
  ['unshare', wrapper('')],
  ['nsenter', wrapper('-t')],
  ['strace', wrapper('-e -o -p -s')],
  ['ltrace', wrapper('-e -o -p')],
  ['watch', wrapper('-n --interval')],
  ['xargs', wrapper('-I -J -n -P -L -d -a -E -s --delimiter --max-args --max-procs --arg-file')],
  [
    'parallel',
    wrapper('-j -S -I -a -N --jobs --sshlogin --results --delay --colsep --tmpdir --joblog --workdir'),
  ],
  ['flock', wrapper('-w -E', 1)],
  ['busybox', wrapper('')],
  ['toybox', wrapper('')],
  ['ssh', wrapper('-i -p -l -o -F -J -L -R -D -b -c -E -m -W', 1)],
  ['sshpass', wrapper('-p -f -e')],
  ['systemd-run', wrapper('-p -u -M -H --unit --property')],
  ['caffeinate', wrapper('-t -w')],
  ['npx', wrapper('-p --package -c')],
  ['bunx', wrapper('')],
  ['uvx', wrapper('--from --with')],
  ['wsl', wrapper('-d -u --distribution --user')],
  ['start', wrapper('')],
]);

/** Shells that take a script after `-c`, or read one from their input. */
export const SHELLS: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'zsh',
  'ksh',
  'dash',
  'ash',
  'fish',
  'csh',
  'tcsh',
  'rbash',
  'mksh',
]);

/** Interpreters that take source code as an argument: the flags that have it behind them. */
export const INTERPRETERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['python', ['-c']],
  ['python2', ['-c']],
  ['python3', ['-c']],
  ['pypy3', ['-c']],
  ['node', ['-e', '-p', '--eval', '--print']],
  ['nodejs', ['-e', '-p', '--eval']],
  ['bun', ['-e', '--eval']],
  ['deno', ['eval']],
  ['perl', ['-e', '-E', '-ne', '-pe', '-le', '-lne', '-MIO']],
  ['ruby', ['-e']],
  ['php', ['-r']],
  ['lua', ['-e']],
  ['tclsh', ['-c']],
  ['osascript', ['-e']],
  ['rscript', ['-e']],
  ['ipython', ['-c']],
]);

/** Which interpreter it is: `python3.12` is `python3`. */
export function interpreterOf(name: string): readonly string[] | undefined {
  return INTERPRETERS.get(name) ?? INTERPRETERS.get(name.replace(/[.\d]+$/, ''));
}
