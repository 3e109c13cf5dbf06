import { type Command, Option } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import { escapeControlsInLines, printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import type { Skill } from '../../../runtime/skills/index.ts';
import { runSelectedOperation } from '../run-operation.ts';
import { type AddOptions, addSkill, buildConsentOptions } from '../skills/add.ts';
import { type SearchOptions, searchSkills } from '../skills/search.ts';

export function defineTemplates(command: Command, terminal: Terminal): void {
  const show = command
    .command('show')
    .summary('print a template')
    .description('Print a template in the form of a policy document.')
    .argument('[name]', 'the template')
    .option('--name <name>', 'the same')
    .addOption(new Option('--format <format>', 'how to print it').choices(['yaml', 'json']).default('yaml'))
    .addOption(buildJsonOption())
    .addOption(buildConfigOption())
    .action((name: string | undefined, options: ShowOptions) => showTemplate(name, options, terminal));
  addExamples(show, [['customshouse templates show finance > policies/finance.yaml', 'start from a pack']]);
  searchCommand(command, terminal);
  installCommand(command, terminal);
  addExamples(command, [
    ['customshouse templates list', ''],
    ['customshouse templates show healthcare --format json', ''],
    ['customshouse templates install healthcare', 'install it, as a skill'],
  ]);
}

function searchCommand(parent: Command, terminal: Terminal): void {
  const search = parent
    .command('search')
    .summary('search templates')
    .description('Search templates by words. A template is a skill that contains policies and nothing else.')
    .argument('[words...]', 'all of them must occur')
    .addOption(buildJsonOption())
    .action((words: string[], options: SearchOptions) => searchSkills(words, options, 'templates', terminal));
  addExamples(search, [['customshouse templates search cards', '']]);
}

function installCommand(parent: Command, terminal: Terminal): void {
  const install = parent
    .command('install')
    .summary('install a template')
    .description(
      'Install a template below `policies/`, as `customshouse skills add` does. The changes are shown first; `customshouse skills remove` removes it. A package with more than policies is refused.',
    )
    .argument('<source>', 'a bundled name, a folder, a .tgz, or npm:name[@version]')
    .addOption(buildConfigOption());
  for (const option of buildConsentOptions()) install.addOption(option);
  install
    .addOption(buildJsonOption())
    .action((source: string, options: AddOptions) => addSkill(source, options, terminal, requireTemplate));
  addExamples(install, [
    ['customshouse templates install finance', ''],
    ['customshouse templates install finance --yes', 'in a script'],
  ]);
}

async function requireTemplate(skill: Skill): Promise<void> {
  const { isTemplate } = await import('../../../runtime/skills/index.ts');
  if (isTemplate(skill)) return;
  throw new CommandFailure(EXIT.no, 'not_a_template', `\`${skill.name}\` brings more than policies.`, {
    hint: 'Preview it with `customshouse skills add --dry-run`.',
  });
}

interface ShowOptions {
  readonly name?: string;
  readonly format: 'yaml' | 'json';
  readonly json?: true;
  readonly config?: string;
}

async function showTemplate(
  argument: string | undefined,
  options: ShowOptions,
  terminal: Terminal,
): Promise<void> {
  const templateName = argument ?? options.name;
  if (templateName === undefined) {
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      'Name a template; `customshouse templates list` shows them.',
    );
  }
  if (argument !== undefined && options.name !== undefined && argument !== options.name) {
    throw new CommandFailure(EXIT.usage, 'usage', 'Name one template, not two.');
  }
  const document = await runSelectedOperation(terminal, options.config, (of) => of.policyTemplate, {
    template_name: templateName,
  });
  if (options.json || options.format === 'json') printLine(terminal, JSON.stringify(document, null, 2));
  else terminal.stdout.write(escapeControlsInLines((await import('yaml')).stringify(document)));
}
