import { Command, CommanderError } from 'commander';
import type { CommandEntry } from '../../operations/cli-kit/command.ts';
import { type CommandFailure, EXIT, type ExitCode } from '../../operations/cli-kit/command-failure.ts';
import { convertExpectedFailure } from '../../operations/cli-kit/convert-failure.ts';
import {
  escapeControls,
  paintError,
  paintText,
  printJson,
  printNotice,
  replaceProgramName,
  type Terminal,
} from '../../operations/cli-kit/terminal.ts';
import { getPackageVersion } from '../../platform/version.ts';
import { commandPorts } from './command-ports.ts';
import { commands } from './commands/index.ts';
import { DERIVED_GROUPS } from './derived-groups.ts';
import { featureCommands } from './feature-commands.ts';

/**
 * Runs one command line.
 * @param args the arguments after the program's name
 * @returns the exit code; any error was printed on standard error
 */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const words = withDashes(args);
  const wanted = words.find((word) => !word.startsWith('-') && word !== 'help');
  try {
    const program = await buildProgram(terminal, wanted);
    await program.parseAsync(words, { from: 'user' });
    return terminal.exit_code;
  } catch (error) {
    return reportFailure(error, terminal, words.includes('--json'));
  }
}

/**
 * Builds the program for commander. It lists every command but defines only the requested one, so that `serve` and
 * hooks do not load unused modules. Completion needs all of them.
 */
export async function buildProgram(terminal: Terminal, wanted: string | undefined): Promise<Command> {
  const program = new Command(terminal.name)
    .description('Runtime safety for AI agents: checks inputs, outputs and tool calls by rules.')
    .version(getPackageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .showHelpAfterError(`See \`${terminal.name} help\`.`)
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ styleTitle: (title) => paintText(terminal, 'bold', title) })
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(replaceProgramName(terminal, text)),
      writeErr: (text) => terminal.stderr.write(replaceProgramName(terminal, text)),
      outputError: (text, write) => write(formatError(text, terminal)),
    });
  program.hook('preAction', async (_program, action) => {
    const { refuseBelowAgent } = await import('./operator-only.ts');
    await refuseBelowAgent(action, terminal);
  });
  for (const entry of listCommands()) {
    const command = program
      .command(entry.name)
      .summary(entry.summary)
      .description(formatSentence(entry.summary));
    if (entry.name === wanted || wanted === 'completion') await defineCommand(command, entry, terminal);
    addHelpHint(command, terminal.name);
  }
  return program.addHelpText('after', () => START);
}

/** Lists all commands by name: those with files, and those that are only derived from operation records. */
export function listCommands(): readonly CommandEntry[] {
  const defined = [...commands, ...featureCommands.flatMap(({ commands: own = [] }) => own)];
  const own = new Set(defined.map(({ name }) => name));
  const derived = DERIVED_GROUPS.filter(({ name }) => !own.has(name));
  return [...defined, ...derived].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Adds the subcommands of a command: those of its own file, of features, and those derived from operation records. */
async function defineCommand(command: Command, entry: CommandEntry, terminal: Terminal): Promise<void> {
  const define = await entry.load?.();
  define?.(command, terminal, commandPorts);
  for (const { to, load } of featureCommands.flatMap(({ additions = [] }) => additions))
    if (to === entry.name) (await load())(command, terminal, commandPorts);
  if (!DERIVED_GROUPS.some(({ name }) => name === entry.name)) return;
  const [{ operations }, { addDerivedVerbs }] = await loadDerived();
  addDerivedVerbs(command, operations, terminal);
}

function loadDerived() {
  return Promise.all([import('../../server/operations.ts'), import('./derived-verbs.ts')]);
}

/** Makes each command's usage errors name its own help. */
function addHelpHint(command: Command, path: string): void {
  const words = `${path} ${command.name()}`;
  command.showHelpAfterError(`See \`${words} --help\`.`);
  for (const child of command.commands) addHelpHint(child, words);
}

const START = `
Start here:
  $ customshouse setup                                  guard the coding agents on this machine
  $ customshouse serve                                  serve on http://127.0.0.1:8000
  $ customshouse scan 'my key is sk-ABCDEF1234567890'   decide on one text, here and now

Exit codes: 0 done or allowed, 1 the answer is no (blocked, invalid, not found), 2 wrong usage or configuration,
3 unknown (audit verify without a key), 130 interrupted. With --json, errors are JSON too: {"error", "code", "details", "hint"}.`;

/** Formats a summary for the top of a help: a capital letter and a full stop. */
function formatSentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

/** Rewrites `--data_tag` to `--data-tag`. Arguments after a bare `--` are not changed. */
function withDashes(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.map((word, at) =>
    (end === -1 || at < end) && /^--[a-z]+(?:_[a-z]+)+(?:=|$)/.test(word)
      ? word.replace(/^[^=]+/, (name) => name.replaceAll('_', '-'))
      : word,
  );
}

/** Other programs' commands, with the one that does it here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  config: 'validate',
  explain: 'policy explain',
  health: 'status',
  install: 'setup',
  lint: 'policy lint',
  reload: 'policy reload',
  run: 'serve',
  start: 'serve',
  test: 'policy test',
  uninstall: 'setup --uninstall',
};

/** Replaces a suggestion by similar letters where the word is another program's name of a command. */
function suggestCommand(text: string): string {
  const name = /^error: unknown command '([a-z]+)'$/m.exec(text)?.[1] ?? '';
  if (!Object.hasOwn(OTHER_NAMES, name)) return text;
  const [first, ...rest] = text.split('\n').filter((line) => !line.startsWith('(Did you mean'));
  return [first, `(Did you mean ${OTHER_NAMES[name]}?)`, ...rest].join('\n');
}

/** Makes a misspelt word safe to print, because it may contain control characters that were pasted. */
function formatError(text: string, terminal: Terminal): string {
  const lines = suggestCommand(text.trimEnd()).split('\n').map(escapeControls);
  return `${lines.join('\n').replace(/^error:/, paintError(terminal, 'red', 'error:'))}\n`;
}

const INTERNAL_ERROR = {
  error: 'Internal error (this is a bug).',
  code: 'internal',
  details: [],
  hint: 'Run the command again with SERVICE_DEBUG=1 to see where, and please report it',
};

/** Returns a message of commander without its `error:`, and its next line as the hint. */
function buildUsageError({ message }: CommanderError) {
  const [first = '', ...rest] = message.replace(/^error: /, '').split('\n');
  return { error: first, code: 'usage', details: [], ...(rest.length > 0 && { hint: rest.join(' ') }) };
}

function serializeFailure({ message, code, details, hint }: CommandFailure, terminal: Terminal) {
  return {
    error: message,
    code,
    details,
    ...(hint !== null && { hint: replaceProgramName(terminal, hint) }),
  };
}

async function reportFailure(error: unknown, terminal: Terminal, asJson: boolean): Promise<ExitCode> {
  // Commander has already printed the message. Help and version also end here.
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.done;
    if (asJson) printJson(terminal, buildUsageError(error));
    return EXIT.usage;
  }
  const failure = convertExpectedFailure(error);
  const red = paintError(terminal, 'red', 'error:');
  if (failure === null) {
    const stack = terminal.env.SERVICE_DEBUG && error instanceof Error ? `\n${error.stack}` : '';
    if (asJson) printJson(terminal, INTERNAL_ERROR);
    printNotice(terminal, `${red} ${INTERNAL_ERROR.error}${stack}`);
    if (stack === '') printNotice(terminal, `${INTERNAL_ERROR.hint}.`);
    return EXIT.usage;
  }
  if (asJson) printJson(terminal, serializeFailure(failure, terminal));
  printNotice(terminal, `${red} ${escapeControls(replaceProgramName(terminal, failure.message))}`);
  for (const line of failure.lines) printNotice(terminal, `  ${escapeControls(line)}`);
  if (failure.hint !== null) printNotice(terminal, replaceProgramName(terminal, failure.hint));
  return failure.exit_code;
}
