import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** An ancestor of this process. */
export interface AncestorProcess {
  readonly pid: number;
  /** Its command line; the first word is the program. */
  readonly words: readonly string[];
}

/** The ancestors of this process, the nearest first, and whether a terminal controls it. */
export interface ProcessLineage {
  readonly ancestors: readonly AncestorProcess[];
  readonly has_terminal: boolean;
}

const ANCESTORS_MAX = 64;
const LIST_MS_MAX = 5_000;
const LIST_BYTES_MAX = 16 * 1024 * 1024;

/** Lists the ancestors of this process; `null` if the system does not provide them. */
export function readLineage(): ProcessLineage | null {
  try {
    return process.platform === 'linux' ? readLinuxLineage() : readListedLineage();
  } catch {
    return null;
  }
}

function readLinuxLineage(): ProcessLineage {
  const own = getStat(process.pid);
  const ancestors: AncestorProcess[] = [];
  for (let pid = own.parent; pid > 0 && ancestors.length < ANCESTORS_MAX; pid = getStat(pid).parent) {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    ancestors.push({ pid, words: [readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), ...words] });
  }
  return { ancestors, has_terminal: own.terminal !== 0 };
}

/** The program name is in parentheses and may contain any character. */
function getStat(pid: number): { readonly parent: number; readonly terminal: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [, parent, , , terminal] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(parent), terminal: Number(terminal) };
}

const LISTS: Readonly<Record<'windows' | 'other', readonly [string, readonly string[]]>> = {
  windows: [
    'powershell.exe',
    [
      '-NoProfile',
      '-NonInteractive',
      '-Command',
      'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) ? $($_.Name) $($_.CommandLine)" }',
    ],
  ],
  other: ['ps', ['-A', '-o', 'pid=,ppid=,tty=,command=']],
};

function readListedLineage(): ProcessLineage {
  const isWindows = process.platform === 'win32';
  const [program, words] = LISTS[isWindows ? 'windows' : 'other'];
  const text = execFileSync(program, words, {
    encoding: 'utf8',
    timeout: LIST_MS_MAX,
    maxBuffer: LIST_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return parseLineage(text, process.pid, isWindows);
}

const LINE = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/;

/**
 * Parses the output of `ps`: process, parent, terminal and command per line. @throws Error if the process
 * itself is missing
 */
export function parseLineage(text: string, ownPid: number, isWindows: boolean): ProcessLineage {
  const rows = new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const [, pid, parent, terminal, command] = LINE.exec(line) ?? [];
      return pid === undefined
        ? []
        : [[Number(pid), { parent: Number(parent), terminal: terminal!, command: command! }] as const];
    }),
  );
  const own = rows.get(ownPid);
  if (own === undefined) throw new Error('the list of processes does not hold this one');
  const ancestors: AncestorProcess[] = [];
  const seen = new Set([ownPid]);
  for (let pid = own.parent; ancestors.length < ANCESTORS_MAX; ) {
    const row = rows.get(pid);
    if (row === undefined || seen.has(pid)) break;
    seen.add(pid);
    ancestors.push({ pid, words: row.command.split(/\s+/) });
    pid = row.parent;
  }
  return { ancestors, has_terminal: isWindows || !/^[?-]+$/.test(own.terminal) };
}
