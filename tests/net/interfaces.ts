import type { Command } from 'commander';
import { createSilentTerminal } from '../../scripts/generate/command-line-page.ts';
import { buildProgram } from '../../src/entry/cli/program.ts';
import { buildOpenApiDocument } from '../../src/entry/http/openapi.ts';
import { listOperationTools } from '../../src/entry/mcp/server/tools.ts';
import { operations } from '../../src/server/operations.ts';
import { formatJsonLines } from './json-lines.ts';

/** Returns the description of the API. */
export function collectOpenApi(): string {
  return formatJsonLines(buildOpenApiDocument(operations, 'VERSION'));
}

/** Returns our own MCP tools, as `tools/list` answers them. */
export function collectMcpTools(): string {
  return formatJsonLines(listOperationTools());
}

const WIDE = 10_000;

/**
 * Returns the `--help` of every command, without the descriptions, arguments and options that
 * `docs/reference/command-line.md` has.
 */
export async function collectHelp(): Promise<string> {
  const program = await buildProgram(createSilentTerminal(), 'completion');
  return [program, ...program.commands.flatMap((each) => listCommands(each))].map(renderHelp).join('\n');
}

function listCommands(command: Command): readonly Command[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  return [command, ...children.flatMap((child) => listCommands(child))];
}

function renderHelp(command: Command): string {
  let text = '';
  const writeOut = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut, getOutHelpWidth: () => WIDE });
  command.outputHelp();
  const help = command.createHelp();
  const onPage = new Set([
    command.description(),
    ...command.registeredArguments.map((each) => help.argumentDescription(each)),
    ...command.options.map((each) => help.optionDescription(each)),
  ]);
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines
    .filter((line) => line !== '' && ![...onPage].some((part) => part !== '' && line.endsWith(part)))
    .map((line, at) => (at === 0 ? `${line}\n` : `  ${line.trim().replaceAll(/ {3,}/g, '  ')}\n`))
    .join('');
}
