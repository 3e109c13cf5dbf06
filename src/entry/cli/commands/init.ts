import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { addExamples, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import {
  escapeControls,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { IntelligenceAnswer } from '../scaffold/configuration.ts';
import type { WrittenFiles } from '../scaffold/write.ts';
import type { SetupChoice } from '../setup/questions.ts';

interface InitOptions {
  readonly path: string;
  readonly full?: true;
  readonly intelligence?: true;
  readonly nonInteractive?: true;
  readonly json?: true;
}

export function defineInit(command: Command, terminal: Terminal): void {
  command
    .description(
      'Write a configuration and a first policy. Existing files are never overwritten. On a terminal it asks which coding agents to guard, for which projects, which policy packs to add, and if a model shall advise.',
    )
    .option('--path <folder>', 'the folder to write to', '.')
    .option('--full', 'more settings, with a tool contract and an agent identity to copy')
    .option('--intelligence', 'propose Yes at the question about the advisory layer (default: No)')
    .option('--non-interactive', 'ask nothing')
    .addOption(buildJsonOption())
    .action((options: InitOptions) => runInit(options, terminal));
  addExamples(command, [
    ['customshouse init', ''],
    ['customshouse init --path deploy --full --non-interactive', 'in a script'],
  ]);
}

async function runInit(options: InitOptions, terminal: Terminal): Promise<void> {
  const { writeMissingFiles } = await import('../scaffold/write.ts');
  const { buildScaffoldFiles } = await import('../scaffold/files.ts');
  const folder = resolve(terminal.cwd, options.path);
  const configuration = join(folder, 'service.yaml');
  const isInteractive =
    terminal.interactive && !options.nonInteractive && !options.json && !(await isThere(configuration));
  const choice = isInteractive ? await chooseSetup(options, terminal) : null;
  const intelligence = isInteractive ? await askAboutIntelligence(options.intelligence === true) : null;
  const written = await writeMissingFiles(folder, buildScaffoldFiles(options.full === true, intelligence));
  if (options.json) printJson(terminal, { folder, ...written });
  else printFiles(written, folder, terminal);
  if (intelligence !== null) printKeyHint(intelligence, folder, terminal);
  if (!isInteractive && options.intelligence)
    printNotice(
      terminal,
      'The advisory layer was not configured, because there is no terminal to ask questions at, or the configuration exists. Set `intelligence.enabled: true` and `intelligence.backend` in service.yaml.',
    );
  await checkNewConfiguration(configuration, terminal);
  if (choice === null || choice.agents.length + choice.packs.length === 0) return;
  printLine(terminal);
  const { setUpAgents } = await import('../setup/set-up-agents.ts');
  const doctor = choice.agents.length > 0;
  await setUpAgents(choice.agents, { path: folder, config: configuration, doctor, ...choice }, terminal);
}

async function chooseSetup(options: InitOptions, terminal: Terminal): Promise<SetupChoice> {
  const { askSetup } = await import('../setup/questions.ts');
  const { findAgents } = await import('../../../coding-agents/setup/find-agents.ts');
  const { codingAgents } = await import('../../../coding-agents/coding-agents.ts');
  const { env } = terminal;
  const project = resolve(terminal.cwd, options.path);
  const { findMcpServers } = await import('../../../coding-agents/setup/find-mcp-servers.ts');
  const machine = { project, home: env.HOME || homedir(), env };
  const found = await findAgents(codingAgents, machine);
  return askSetup(found, await findMcpServers(found, machine));
}

async function askAboutIntelligence(isWanted: boolean): Promise<IntelligenceAnswer | null> {
  return (await import('../scaffold/questions.ts')).askIntelligence(isWanted);
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function printFiles({ created, kept }: WrittenFiles, folder: string, terminal: Terminal): void {
  const place = relative(terminal.cwd, folder) || '.';
  for (const path of created) printLine(terminal, `created  ${escapeControls(join(place, path))}`);
  for (const path of kept) printLine(terminal, `kept     ${escapeControls(join(place, path))}`);
  if (created.length === 0) printLine(terminal, 'Everything was there already; nothing was changed.');
  const config = place === '.' ? '' : ` --config ${escapeControls(join(place, 'service.yaml'))}`;
  printLine(terminal, `\nNext:\n  ${terminal.name} validate${config}\n  ${terminal.name} serve${config}`);
}

/** Says how to try the advisory layer, and which variable is still missing. */
function printKeyHint({ api_key_env }: IntelligenceAnswer, folder: string, terminal: Terminal): void {
  const place = relative(terminal.cwd, folder) || '.';
  const config = place === '.' ? '' : ` --config ${escapeControls(join(place, 'service.yaml'))}`;
  if (api_key_env !== null && (terminal.env[api_key_env] ?? '') === '')
    printLine(terminal, `\nSet the key of the model first:\n  export ${api_key_env}=...`);
  printLine(terminal, `  ${terminal.name} intelligence status --check${config}`);
}

/**
 * Checks the result, because existing files that were kept may have mistakes. It is better to report them now than at
 * the next start.
 */
async function checkNewConfiguration(configuration: string, terminal: Terminal): Promise<void> {
  const { formatProblem } = await import('../../../runtime/config/index.ts');
  const { validateConfiguration } = await import('../../../runtime/policies/index.ts');
  const { loadConfig } = await import('../../../server/load-config.ts');
  const { problems } = await validateConfiguration(
    { path: configuration, env: terminal.env, cwd: terminal.cwd },
    loadConfig,
  );
  if (problems.length === 0) return;
  printNotice(terminal, '');
  throw new CommandFailure(EXIT.no, 'invalid', 'What is there now is not valid:', {
    details: problems,
    lines: problems.map(formatProblem),
  });
}
