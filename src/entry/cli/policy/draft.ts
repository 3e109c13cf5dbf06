import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import {
  addExamples,
  buildConfigOption,
  buildJsonOption,
  collectValues,
} from '../../../operations/cli-kit/options.ts';
import {
  escapeControls,
  escapeControlsInLines,
  printJson,
  printNotice,
  replaceProgramName,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { DraftedContract } from '../../../runtime/policies/contract-draft/tool-description.ts';
import { readDraftSource, type SourceOptions } from './draft-sources.ts';

const SOURCES: readonly SourceOptions['from'][] = ['mcp', 'openapi', 'traffic'];

interface DraftOptions extends SourceOptions {
  readonly out?: string;
  readonly yes?: true;
  readonly json?: true;
}

/** Adds `policy draft`. */
export function definePolicyDraft(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('draft')
    .argument('[source...]', 'a file, a URL, a configured MCP server, or after `--` a command')
    .summary('propose contracts from tool lists, API documents or recorded calls')
    .description(
      'Propose a contract for each tool: where its results come from, and where the values of its arguments must come from. The words of names and the schemas decide, without a model; each line has its reason as a comment. Check every line before you save the draft below contracts/, where a running service loads it.\n' +
        '`--from mcp` reads a file with an answer to `tools/list`, or asks a server; `--from openapi` reads a document of version 3.0 or 3.1; `--from traffic` reads the audit log. A draft has at most 1,000 tools; a source has at most 10 MiB.',
    )
    .addOption(
      new Option('--from <kind>', 'where the tools are described').choices(SOURCES).makeOptionMandatory(),
    )
    .option('--since <duration>', 'with `--from traffic`: how far back, as 15m, 24h, 7d', '24h')
    .option(
      '--tool <name>',
      'with `--from traffic`: only this tool; may be given several times',
      collectValues,
    )
    .option('--prefix <text>', 'text before each tool name, as in calls: `mcp__github__`')
    .option('--out <file>', 'write the draft to a file')
    .option('--yes', 'overwrite the file')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((words: string[], options: DraftOptions, self: Command) =>
      draftPolicy(words, isAfterDashes(self, words), options, terminal),
    );
  addExamples(command, [
    ['customshouse policy draft --from mcp tools.json', 'a saved answer to tools/list'],
    ['customshouse policy draft --from mcp -- npx -y some-server', 'a program that is started once'],
    ['customshouse policy draft --from openapi api.yaml --out drafts/api.yaml', 'an HTTP API'],
    ['customshouse policy draft --from traffic --since 7d', 'tools that agents called'],
  ]);
}

/** Returns whether the words were written after `--`, and are therefore a command. */
function isAfterDashes(command: Command, words: readonly string[]): boolean {
  let root = command;
  while (root.parent !== null) root = root.parent;
  const given = (root as Command & { readonly rawArgs?: readonly string[] }).rawArgs ?? [];
  const at = given.indexOf('--');
  return at >= 0 && given.length - at - 1 === words.length;
}

async function draftPolicy(
  words: readonly string[],
  isCommand: boolean,
  options: DraftOptions,
  terminal: Terminal,
): Promise<void> {
  const [{ draftContracts }, { formatDraft }] = await Promise.all([
    import('../../../runtime/policies/contract-draft/draft-contracts.ts'),
    import('../../../runtime/policies/contract-draft/format-draft.ts'),
  ]);
  const { tools, resolve: resolveReference } = await readDraftSource(words, isCommand, options, terminal);
  if (tools.length === 0)
    throw new CommandFailure(EXIT.no, 'not_found', 'There are no tools to draft contracts for.');
  const drafts = draftContracts(tools, {
    ...(resolveReference !== undefined && { resolve: resolveReference }),
  });
  const text = formatDraft(drafts, HEADING);
  if (options.out !== undefined)
    await writeDraft(text, resolve(terminal.cwd, options.out), options.yes === true);
  if (options.json) printJson(terminal, buildJsonDraft(drafts));
  else if (options.out === undefined) terminal.stdout.write(escapeControlsInLines(text));
  const saved = options.out === undefined ? 'drafted' : `written to ${escapeControls(options.out)}`;
  printNotice(terminal, `${formatCount(drafts.length, 'contract')} ${saved}. Next:`);
  for (const step of NEXT_STEPS) printNotice(terminal, `  ${replaceProgramName(terminal, step)}`);
}

const HEADING = [
  'A draft of `customshouse policy draft`. Check every line: labels trust what a server says of its fields, and roles are',
  'read from words. A value that no label permits waits for an approval.',
];

const NEXT_STEPS = [
  '1. Check each line and its reason. Save the draft below contracts/.',
  '2. `customshouse policy lint` finds mistakes.',
  '3. Let the prompts of people give `user`: see docs/how-to/draft-a-policy.md.',
  '4. `customshouse logs` shows which calls are held.',
];

async function writeDraft(text: string, path: string, overwrites: boolean): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, text, { flag: overwrites ? 'w' : 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CommandFailure(EXIT.usage, 'exists', `The file \`${path}\` exists.`, {
      hint: 'Name another file, or overwrite it with `--yes`.',
    });
  }
}

function buildJsonDraft(drafts: readonly DraftedContract[]) {
  return {
    contracts: drafts.map(({ contract }) => contract),
    reasons: drafts.flatMap(({ contract, reasons }) =>
      reasons.map(({ place, reason }) => ({ tool_name: contract.tool_name, path: place.join('.'), reason })),
    ),
  };
}
