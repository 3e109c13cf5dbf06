import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { escapeControls, printJson, printLine, type Terminal } from '../../operations/cli-kit/terminal.ts';
import { type Answer, runSelectedOperation } from './run-operation.ts';

interface Options {
  readonly user?: string;
  readonly config?: string;
  readonly json?: true;
}

/** Shows one tool: the pinned definition, the pending one, and the differences. */
export async function showPin(
  server: string,
  tool: string,
  options: Options,
  terminal: Terminal,
): Promise<void> {
  const pin = await findPinOrFail(server, tool, options, terminal);
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
): Promise<Answer<'mcpPinsList'>['pins'][number]> {
  const { pins } = await runSelectedOperation(terminal, options.config, (of) => of.mcpPinsList, {
    server,
    tool,
  });
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
