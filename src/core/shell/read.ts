import { parseScript, type Shared } from './parse.ts';
import { type Command, type Dialect, type Reading, type Script, SHELL_LIMITS } from './syntax.ts';
import { unwrap } from './unwrap.ts';
import { WORK_LIMITS, type Work, workFor } from './work.ts';

const WINDOWS =
  /(?:^|[\s"'(;|&])(?:[A-Za-z]:\\|\\\\[\w.]+\\|%\w+%|(?:HKLM|HKCU|HKCR|HKEY_[A-Z_]+)[:\\]|\$env:|\$PS|\$_\b|\[[A-Z][\w.]{2,40}\]|(?:powershell|pwsh|cmd|reg|wmic|net|sc|certutil|schtasks|vssadmin|wevtutil|bcdedit|netsh|rundll32|regsvr32|mshta|bitsadmin|icacls|attrib|del|rd|erase|format|diskpart|iex|iwr|irm)(?:\.exe)?[ \t(]|[A-Za-z]:[ \t]*$|(?:Get|Set|New|Remove|Add|Clear|Invoke|Start|Stop|Import|Export|Install|Uninstall|Enable|Disable|Out|Write|Test|Select|Where|ForEach|Move|Copy|Rename|Format|Initialize|Restart|Register|Unregister|Expand|Compress|ConvertTo|ConvertFrom|Read|Restore|Suspend|Update|Connect|Find)-[A-Z][A-Za-z]{2})/i;

/**
 * The dialects that a text may be in. Where a path, a variable or a command of Windows shows, it may be that one;
 * whether a backslash escapes is then not known, so that it is read as either.
 */
export function dialectsOf(text: string): readonly Dialect[] {
  return WINDOWS.test(text) ? BOTH : POSIX;
}

const POSIX: readonly Dialect[] = ['posix'];
const BOTH: readonly Dialect[] = ['windows', 'posix'];

/** What one reading has come to. */
interface Run {
  readonly commands: Command[];
  /** What is still to be read, the next one last. */
  readonly scripts: Script[];
  readonly work: Work;
  is_cut: boolean;
}

/** The work that reading a text may take. */
export function readingWork({ length }: string): Work {
  return workFor(Math.min(length, SHELL_LIMITS.script_units_max), WORK_LIMITS.reading_per_unit);
}

/** How a script is read. */
export interface ReadingOptions {
  /** Where the script begins in the text that the spans are to count in. */
  readonly offset?: number;
  readonly dialect?: Dialect;
  /** What it may cost; by its length where it is left out. */
  readonly work?: Work;
}

/**
 * All commands that a script would run, with those inside wrappers, quoted scripts and substitutions. Never
 * throws; past a limit `is_cut` is set.
 */
export function readCommands(
  text: string,
  { offset = 0, dialect = 'posix', work = readingWork(text) }: ReadingOptions = {},
): Reading {
  const head = text.slice(0, SHELL_LIMITS.script_units_max);
  const run: Run = {
    commands: [],
    scripts: [{ text: head, place: { offset }, depth: 0, within: [], previous: null, dialect }],
    work,
    is_cut: head.length < text.length,
  };
  const shared: Shared = { variables: new Map(), work };
  for (let script = run.scripts.pop(); script !== undefined; script = run.scripts.pop()) {
    if (work.left < 0) break;
    if (script.depth > SHELL_LIMITS.depth_max) run.is_cut = true;
    else readScript(script, shared, run);
  }
  return { commands: run.commands, is_cut: run.is_cut || work.left < 0 };
}

function readScript(script: Script, shared: Shared, run: Run): void {
  const parsed = parseScript(script, shared);
  pushAll(run.scripts, parsed.scripts.reverse());
  for (const command of parsed.commands) addWithInner(command, run);
}

/** Adds a command and those that it wraps, as far as there is work left. */
function addWithInner(command: Command, run: Run): void {
  const open: Command[] = [command];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    run.commands.push(next);
    if (run.work.left < 0) continue;
    const inner = unwrap(next, run.work);
    if (next.depth >= SHELL_LIMITS.depth_max) run.is_cut ||= inner.commands.length + inner.scripts.length > 0;
    else {
      pushAll(open, inner.commands);
      pushAll(run.scripts, inner.scripts);
    }
  }
}

/** `push(...items)` has as many arguments as items, and they live on the stack. */
function pushAll<T>(list: T[], items: readonly T[]): void {
  for (const item of items) list.push(item);
}
