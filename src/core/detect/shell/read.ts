import { noteEffects, parametersOf, restoreParameters, type Shared, setParameters } from './effects.ts';
import { withoutMarks } from './expansion.ts';
import { printedBy } from './output.ts';
import { parseScript } from './parse.ts';
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
  readonly shared: Shared;
  is_cut: boolean;
  /** Scripts whose output is being worked out. */
  evaluations: number;
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
  const head = withoutMarks(text.slice(0, SHELL_LIMITS.script_units_max));
  const script: Script = { text: head, place: { offset }, depth: 0, within: [], previous: null, dialect };
  const run: Run = {
    shared: sharedWith(work, (inner) => outputOf(inner, dialect, run)),
    is_cut: false,
    evaluations: 0,
  };
  const commands = readScript(script, run);
  return { commands, is_cut: run.is_cut || head.length < text.length || work.left < 0 };
}

function sharedWith(work: Work, evaluate: Shared['evaluate']): Shared {
  return { variables: new Map(), functions: new Map(), files: new Map(), folder: null, work, evaluate };
}

/** The commands of a script, those in it first and those of scripts inside of it behind them. */
function readScript(script: Script, run: Run): readonly Command[] {
  const { shared } = run;
  if (shared.work.left < 0) return [];
  if (script.depth > SHELL_LIMITS.depth_max) {
    run.is_cut = true;
    return [];
  }
  const commands: Command[] = [];
  const later: Command[] = [];
  const before = parametersOf(shared.variables);
  const { folder } = shared;
  if (script.parameters !== undefined) setParameters(shared.variables, script.parameters);
  const rest = parseScript(script, shared, (command, inner) => {
    for (const each of inner) pushAll(later, readScript(each, run));
    addWithInner(command, run, commands, later);
  });
  for (const each of rest) pushAll(later, readScript(each, run));
  if (script.parameters !== undefined) restoreParameters(shared.variables, before);
  if (!STAYS.test(script.within.at(-1) ?? '')) shared.folder = folder;
  pushAll(commands, later);
  return commands;
}

/** Scripts that run in the shell around them, so that `cd` in them moves that one. */
const STAYS = /^(?:eval|source|\.|.*\(\))$/;

/** Adds a command and those that it wraps, as far as there is work left. */
function addWithInner(command: Command, run: Run, commands: Command[], later: Command[]): void {
  const { shared } = run;
  const open: Command[] = [command];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    commands.push(next);
    if (shared.work.left < 0) continue;
    next.files = shared.files.size === 0 ? null : shared.files;
    next.folder = shared.folder;
    const inner = unwrap(next, shared);
    noteEffects(next, shared);
    if (next.depth >= SHELL_LIMITS.depth_max) run.is_cut ||= inner.commands.length + inner.scripts.length > 0;
    else {
      pushAll(open, inner.commands);
      for (const script of inner.scripts) pushAll(later, readScript(script, run));
    }
  }
}

const EVALUATIONS_MAX = 4;

/** What a script prints: known where it is one pipeline of programs whose output is known. */
function outputOf(text: string, dialect: Dialect, run: Run): string | null {
  const { shared } = run;
  if (run.evaluations >= EVALUATIONS_MAX || dialect !== 'posix' || shared.work.left < 0) return null;
  run.evaluations += 1;
  const commands: Command[] = [];
  const script: Script = { text, place: { offset: 0 }, depth: 0, within: [], previous: null, dialect };
  parseScript(script, shared, (command) => {
    command.files = shared.files.size === 0 ? null : shared.files;
    command.folder = shared.folder;
    commands.push(command);
  });
  run.evaluations -= 1;
  const [first] = commands;
  // `$(which a || which b)`
  if (first !== undefined && /^(?:which|command|type)$/.test(first.name)) return printedBy(first);
  const last = commands.at(-1) ?? null;
  const is_pipeline = commands.every((command, at) => at === 0 || command.previous === commands[at - 1]);
  return is_pipeline ? printedBy(last) : null;
}

/** `push(...items)` has as many arguments as items, and they live on the stack. */
function pushAll<T>(list: T[], items: readonly T[]): void {
  for (const item of items) list.push(item);
}
