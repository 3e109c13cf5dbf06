import { applyEffects, getParameters, restoreParameters, type ShellState, setParameters } from './effects.ts';
import { removeMarks } from './expansion.ts';
import { computeOutput } from './output.ts';
import { parseScript } from './parse.ts';
import { findTextSources, keepVariableSources } from './sources.ts';
import {
  type Command,
  type ReadCommands,
  SHELL_LIMITS,
  type ShellDialect,
  type ShellScript,
} from './syntax.ts';
import { unwrapCommand } from './unwrap.ts';
import { createWorkBudget, WORK_LIMITS, type WorkBudget } from './work.ts';

const WINDOWS =
  /(?:^|[\s"'(;|&])(?:[A-Za-z]:\\|\\\\[\w.]+\\|%\w+%|(?:HKLM|HKCU|HKCR|HKEY_[A-Z_]+)[:\\]|\$env:|\$PS|\$_\b|\[[A-Z][\w.]{2,40}(?:\[\])?\]|&[ \t]{0,2}\([ \t]{0,2}['"]|(?:powershell|pwsh|cmd|reg|wmic|net|sc|certutil|schtasks|vssadmin|wevtutil|bcdedit|netsh|rundll32|regsvr32|mshta|bitsadmin|icacls|attrib|del|rd|erase|format|diskpart|iex|iwr|irm)(?:\.exe)?[ \t(]|[A-Za-z]:[ \t]*$|(?:Get|Set|New|Remove|Add|Clear|Invoke|Start|Stop|Import|Export|Install|Uninstall|Enable|Disable|Out|Write|Test|Select|Where|ForEach|Move|Copy|Rename|Format|Initialize|Restart|Register|Unregister|Expand|Compress|ConvertTo|ConvertFrom|Read|Restore|Suspend|Update|Connect|Find)-[A-Z][A-Za-z]{2})/i;

/**
 * Returns the possible dialects of a text. A path, variable or command of Windows makes both possible: whether a
 * backslash escapes is then unknown.
 */
export function listDialects(text: string): readonly ShellDialect[] {
  return WINDOWS.test(text) ? BOTH : POSIX;
}

const POSIX: readonly ShellDialect[] = ['posix'];
const BOTH: readonly ShellDialect[] = ['windows', 'posix'];

/** The state of one reading. */
interface ReadingRun {
  readonly shared: ShellState;
  is_cut: boolean;
  /** The number of scripts whose output is currently computed. */
  evaluations: number;
}

/** Returns the work budget for reading a text. */
export function getReadingWork({ length }: string): WorkBudget {
  return createWorkBudget(Math.min(length, SHELL_LIMITS.script_units_max), WORK_LIMITS.reading_per_unit);
}

export interface ReadingOptions {
  /** Offset of the script in the text to which spans refer. */
  readonly offset?: number;
  readonly dialect?: ShellDialect;
  /** The work budget; by default derived from the length. */
  readonly work?: WorkBudget;
  /** Programs that run the rest of their line, in addition to those in `wrappers.ts`. */
  readonly wrappers?: readonly string[] | undefined;
}

/**
 * Returns all commands that a script would run, including those inside wrappers, quoted scripts and substitutions.
 * Never throws; if a limit is exceeded, `is_cut` is set.
 */
export function readCommands(
  text: string,
  { offset = 0, dialect = 'posix', work = getReadingWork(text), wrappers = [] }: ReadingOptions = {},
): ReadCommands {
  const head = removeMarks(text.slice(0, SHELL_LIMITS.script_units_max));
  const script: ShellScript = {
    text: head,
    place: { offset },
    depth: 0,
    within: [],
    previous: null,
    dialect,
  };
  const run: ReadingRun = {
    shared: createShellState(work, wrappers, (inner) => evaluateScript(inner, dialect, run)),
    is_cut: false,
    evaluations: 0,
  };
  const commands = readScript(script, run);
  return { commands, is_cut: run.is_cut || head.length < text.length || work.left < 0 };
}

function createShellState(
  work: WorkBudget,
  wrappers: readonly string[],
  evaluate: ShellState['evaluate'],
): ShellState {
  const [variables, functions, files, sources] = [new Map(), new Map(), new Map(), new Map()];
  return { variables, functions, files, sources, folder: null, work, wrappers, evaluate };
}

/** Returns the commands of a script, first its own, then those of scripts inside it. */
function readScript(script: ShellScript, run: ReadingRun): readonly Command[] {
  const { shared } = run;
  if (shared.work.left < 0) return [];
  if (script.depth > SHELL_LIMITS.depth_max) {
    run.is_cut = true;
    return [];
  }
  const commands: Command[] = [];
  const later: Command[] = [];
  const before = getParameters(shared.variables);
  const { folder } = shared;
  if (script.parameters !== undefined) setParameters(shared.variables, script.parameters);
  const rest = parseScript(script, shared, (command, inner) => {
    const substituted = inner.flatMap((each) => readScript(each, run));
    pushAll(later, substituted);
    command.sources = findTextSources(command, substituted, shared.sources);
    keepVariableSources(command, shared.sources);
    addWithWrapped(command, run, commands, later);
  });
  for (const each of rest) pushAll(later, readScript(each, run));
  if (script.parameters !== undefined) restoreParameters(shared.variables, before);
  if (!SHARES_FOLDER.test(script.within.at(-1) ?? '')) shared.folder = folder;
  pushAll(commands, later);
  return commands;
}

/** Scripts that run in the surrounding shell, so that `cd` in them changes its folder. */
const SHARES_FOLDER = /^(?:eval|source|\.|.*\(\))$/;

/** Adds a command and those that it wraps, within the work budget. */
function addWithWrapped(command: Command, run: ReadingRun, commands: Command[], later: Command[]): void {
  const { shared } = run;
  const open: Command[] = [command];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    commands.push(next);
    if (shared.work.left < 0) continue;
    next.files = shared.files.size === 0 ? null : shared.files;
    next.folder = shared.folder;
    const inner = unwrapCommand(next, shared);
    applyEffects(next, shared);
    if (next.depth >= SHELL_LIMITS.depth_max) run.is_cut ||= inner.commands.length + inner.scripts.length > 0;
    else {
      pushAll(open, inner.commands);
      for (const script of inner.scripts) pushAll(later, readScript(script, run));
    }
  }
}

const EVALUATIONS_MAX = 4;

/** Returns what a script prints, if it is one pipeline of programs with known output. */
function evaluateScript(text: string, dialect: ShellDialect, run: ReadingRun): string | null {
  const { shared } = run;
  if (run.evaluations >= EVALUATIONS_MAX || dialect !== 'posix' || shared.work.left < 0) return null;
  run.evaluations += 1;
  const commands: Command[] = [];
  const script: ShellScript = { text, place: { offset: 0 }, depth: 0, within: [], previous: null, dialect };
  parseScript(script, shared, (command) => {
    command.files = shared.files.size === 0 ? null : shared.files;
    command.folder = shared.folder;
    commands.push(command);
  });
  run.evaluations -= 1;
  const [first] = commands;
  // `$(which a || which b)`
  if (first !== undefined && /^(?:which|command|type)$/.test(first.name)) return computeOutput(first);
  const last = commands.at(-1) ?? null;
  const isPipeline = commands.every((command, at) => at === 0 || command.previous === commands[at - 1]);
  return isPipeline ? computeOutput(last) : null;
}

/** Appends items one by one, because `push(...items)` passes them on the stack, which is limited. */
function pushAll<T>(list: T[], items: readonly T[]): void {
  for (const item of items) list.push(item);
}
