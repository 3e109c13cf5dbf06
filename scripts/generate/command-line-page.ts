import { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import { buildProgram } from '../../src/entry/cli/program.ts';

const HEAD = `# Command line

<!-- Made by \`npm run generate\` from the definitions of the commands. -->

This reference is for operators and developers. It lists every command with its arguments and options. In a checkout the program is \`./customshouse\`;
the npm package installs the same program as \`customshouse\`. \`customshouse COMMAND --help\` shows the same text, with examples.

- Most commands take \`-c, --config FILE\`, the configuration (default: \`$SERVICE_CONFIG\`, else \`./service.yaml\` if it exists), and \`--json\`,
  which prints JSON for programs. They are not repeated below.
- \`--data_tag\` and \`--data-tag\` are the same option. So are all others with a dash.
- Exit codes: 0 done or allowed, 1 the answer is no (blocked, invalid, not found), 2 wrong usage or configuration, 3 unknown (audit verify without a key), 130 interrupted.`;

/** Options that the introduction describes. */
const COMMON = new Set(['--config', '--json', '--help']);

/** Returns the text of `docs/reference/command-line.md`. */
export async function renderCommandLinePage(): Promise<string> {
  const program = await buildProgram(createSilentTerminal(), 'completion');
  const sections = program.commands.flatMap((command) => renderCommand(command, ''));
  return `${[HEAD, ...sections].join('\n\n')}\n`;
}

/** Returns a terminal that prints nothing. */
export function createSilentTerminal(): Parameters<typeof buildProgram>[0] {
  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  return {
    ...{ name: 'customshouse', cwd: '/', env: {}, interactive: false, exit_code: 0 },
    ...{ stdin: Readable.from([]), stdout: sink(), stderr: sink() },
  };
}

/** Renders a command and its subcommands: description, usage, and a table of arguments and options. */
function renderCommand(command: Command, parent: string): string[] {
  const path = `${parent}${command.name()}`;
  const help = command.createHelp();
  const children = command.commands.filter((child) => child.name() !== 'help');
  const options = help.visibleOptions(command).filter(({ long }) => !COMMON.has(long ?? ''));
  const rows = [
    ...command.registeredArguments.map((each) => [each.name(), help.argumentDescription(each)]),
    ...options.map((each) => [each.flags, help.optionDescription(each)]),
  ].map(([name, text]) => `| \`${name}\` | ${escapeCell(text ?? '')} |`);
  const own = [
    `${parent === '' ? '##' : '###'} ${path}`,
    escapeAngles(command.description()),
    ...(children.length > 0 && command.registeredArguments.length === 0
      ? []
      : [`\`customshouse ${path} ${command.usage()}\``]),
    ...(rows.length === 0 ? [] : [['| Argument or option | |', '|---|---|', ...rows].join('\n')]),
  ];
  return [...own, ...children.flatMap((child) => renderCommand(child, `${path} `))];
}

function escapeCell(text: string): string {
  return escapeAngles(text.replaceAll('|', '\\|'));
}

/** Escapes angle brackets outside of code, because the pages of the site are parsed as HTML too. */
function escapeAngles(text: string): string {
  return text.replaceAll(/`[^`]*`|</g, (part) => (part === '<' ? '&lt;' : part));
}
