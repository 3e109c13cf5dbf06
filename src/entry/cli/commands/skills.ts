import type { Command } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatTable } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import { escapeControls, printJson, printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import { type AddOptions, addSkill, buildConsentOptions, buildPluginOption } from '../skills/add.ts';
import { type RemoveOptions, removeSkill } from '../skills/remove.ts';
import { type SearchOptions, searchSkills } from '../skills/search.ts';

export function defineSkills(command: Command, terminal: Terminal): void {
  addCommand(command, terminal);
  removeCommand(command, terminal);
  addListCommand(command, terminal);
  searchCommand(command, terminal);
  addExamples(command, [
    ['customshouse skills search cards', 'all of them'],
    ['customshouse skills add pci-dss', 'show what it changes, and install it'],
    ['customshouse skills list', 'installed skills, and whether their files were changed'],
    ['customshouse skills remove pci-dss', 'remove it'],
  ]);
}

function addCommand(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('add')
    .summary('install a skill')
    .description(
      'Install the files of a skill: policies, contracts, memory schemas, identities and cases. The command first shows the changes and checks the whole policy. It never overwrites files of others, or files that were edited.',
    )
    .argument('<source>', 'a bundled name, a folder, a .tgz, or npm:name[@version]')
    .addOption(buildConfigOption());
  for (const option of [...buildConsentOptions(), buildPluginOption()]) command.addOption(option);
  command
    .addOption(buildJsonOption())
    .action((source: string, options: AddOptions) => addSkill(source, options, terminal));
  addExamples(command, [
    ['customshouse skills add pci-dss', 'one that comes with the service'],
    ['customshouse skills add ./skills/ours --dry-run', 'what a folder would change'],
    ['customshouse skills add npm:@acme/agent-rules@1.2.0 --yes', 'of a registry, in a script'],
    ['customshouse skills add ./skills/ours --allow-plugins', 'one with plug-in code that you have reviewed'],
  ]);
}

function removeCommand(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('remove')
    .summary('remove a skill')
    .description('Remove the files of a skill. Edited files are kept, unless --force is given.')
    .argument('<name>', 'the skill')
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--force', 'delete changed files too, and continue if the remaining policy is not valid')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((name: string, options: RemoveOptions) => removeSkill(name, options, terminal));
  addExamples(command, [['customshouse skills remove pci-dss', '']]);
}

interface ListOptions {
  readonly config?: string;
  readonly json?: true;
  readonly check?: true;
}

function addListCommand(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('list')
    .summary('list the installed skills')
    .description('List the installed skills, and whether their files were changed since.')
    .option('--check', 'end with 1 if a file is changed or missing')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: ListOptions) => printSkills(options, terminal));
  addExamples(command, [['customshouse skills list --check', 'in a pipeline']]);
}

async function printSkills(options: ListOptions, terminal: Terminal): Promise<void> {
  const config = await loadCliConfig(terminal, options.config, 'leave');
  const { listSkills } = await import('../../../runtime/skills/index.ts');
  const { skills, interrupted } = await listSkills(config);
  if (options.json) printJson(terminal, { skills, interrupted });
  else if (skills.length === 0) printLine(terminal, 'No skill was added here.');
  else {
    const rows = skills.map(({ name, version, state, source }) => [name, version, state, source]);
    for (const line of formatTable(['NAME', 'VERSION', 'STATE', 'SOURCE'], rows)) printLine(terminal, line);
    for (const { changed, missing } of skills) {
      for (const path of changed) printLine(terminal, `changed  ${escapeControls(path)}`);
      for (const path of missing) printLine(terminal, `missing  ${escapeControls(path)}`);
    }
  }
  if (interrupted && !options.json)
    printLine(
      terminal,
      'A change was interrupted. The next `skills add` or `skills remove` completes it first.',
    );
  if (options.check && (interrupted || skills.some(({ state }) => state !== 'intact')))
    terminal.exit_code = EXIT.no;
}

function searchCommand(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('search')
    .summary('search skills')
    .description(
      'Search skills by words in their names, descriptions and keywords. Without a word, list all.',
    )
    .argument('[words...]', 'all of them must occur')
    .option(
      '--registry <registry>',
      'look in a registry too: `npm`, as npm is set up on this machine',
      parseRegistryName,
    )
    .addOption(buildJsonOption())
    .action((words: string[], options: SearchOptions) => searchSkills(words, options, 'skills', terminal));
  addExamples(command, [
    ['customshouse skills search health', ''],
    ['customshouse skills search --registry npm cards', 'published skills too'],
  ]);
}

function parseRegistryName(text: string): 'npm' {
  if (text === 'npm') return text;
  throw new CommandFailure(EXIT.usage, 'usage', 'There is one registry to look in: `npm`.');
}
