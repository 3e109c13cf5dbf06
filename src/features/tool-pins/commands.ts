import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../operations/cli-kit/options.ts';
import { escapeControls, printJson, printLine, type Terminal } from '../../operations/cli-kit/terminal.ts';
import { mcpPinsList } from './pin-operations.ts';

interface Options {
  readonly user?: string;
  readonly config?: string;
  readonly json?: true;
}

/** Adds `mcp pins`. Its other subcommands are derived from the operations. */
export function definePins(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const pins = command.command('pins').summary('manage the pinned tools of guarded servers');
  pins.description(
    'Manage the pinned tool definitions of guarded servers. A definition is pinned when it is first seen; a changed one is held back.',
  );
  addExamples(pins, [['customshouse mcp pins list', '']]);
  const show = pins
    .command('show <server> <tool>')
    .summary('compare the pinned definition with the quarantined one')
    .option('--user <id>', 'whose list it is')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((server: string, tool: string, options: Options) =>
      showPin(server, tool, options, terminal, ports),
    );
  addExamples(show, [['customshouse mcp pins show files read_file', '']]);
}

/** Shows one tool: the pinned definition, the pending one, and the differences. */
async function showPin(
  server: string,
  tool: string,
  options: Options,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  const pin = await findPinOrFail(server, tool, options, terminal, ports);
  if (options.json) return printJson(terminal, pin);
  printLine(terminal, `${escapeControls(pin.server)} ${escapeControls(pin.tool)}: ${pin.status}`);
  if (pin.quarantined_sha256 === null) {
    for (const [place, value] of listLeaves(pin.pinned_definition))
      printLine(terminal, `  ${escapeControls(`${place} ${value}`)}`);
    return;
  }
  printLine(terminal, escapeControls(pin.quarantined_reason ?? ''));
  const before = new Map(listLeaves(pin.pinned_definition));
  const after = new Map(listLeaves(pin.quarantined_definition));
  for (const place of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [old, fresh] = [before.get(place), after.get(place)];
    if (old === fresh) continue;
    if (old !== undefined) printLine(terminal, `- ${escapeControls(`${place} ${old}`)}`);
    if (fresh !== undefined) printLine(terminal, `+ ${escapeControls(`${place} ${fresh}`)}`);
  }
  printLine(
    terminal,
    `Agree with \`${terminal.name} mcp pins approve ... --sha256 ${pin.quarantined_sha256}\`.`,
  );
}

async function findPinOrFail(
  server: string,
  tool: string,
  options: Options,
  terminal: Terminal,
  { runOperation }: CommandPorts,
): Promise<Static<(typeof mcpPinsList)['output']>['pins'][number]> {
  const { pins } = await runOperation(terminal, options.config, mcpPinsList, { server, tool });
  const pin = pins.find(({ user_id }) => user_id === (options.user ?? ''));
  if (pin !== undefined) return pin;
  throw new CommandFailure(EXIT.no, 'not_found', 'This tool of this server is not known.', {
    hint: 'List the pins with `customshouse mcp pins list`.',
  });
}

/** Lists every value of a definition with its path, for a comparison by people. */
function listLeaves(value: unknown, place = '$'): [place: string, value: string][] {
  if (value === null && place === '$') return [];
  if (typeof value !== 'object' || value === null) return [[place, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([key, inner]) => listLeaves(inner, `${place}.${key}`));
}
