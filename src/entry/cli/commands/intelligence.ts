import { type Command, InvalidArgumentError, Option } from 'commander';
import { CommandFailure, EXIT } from '../command-failure.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../options.ts';
import type { Terminal } from '../terminal.ts';

const STAGING_DIR = '.safeai-generated';

/** Defines the advisory commands with their future options. They do nothing while the advisory layer is off. */
export function defineIntelligence(command: Command, terminal: Terminal): void {
  command.description(
    'Query the advisory layer. It is off by default, never decides, and sees metadata only.',
  );
  const autoConfig = advisor(
    command,
    terminal,
    'auto-config',
    'Suggest a configuration from the structure of a project.',
    '--path .',
  )
    .option('--path <folder>', 'the project', '.')
    .option('--apply', 'install the suggestion (default: only stage it)');
  outputDir(autoConfig);
  const recommend = advisor(
    command,
    terminal,
    'recommend',
    'Suggest rules from the totals of the audit trail.',
    '--since 7d',
  ).option('--since <duration>', 'period before now', '7d');
  outputDir(recommend);
  advisor(command, terminal, 'explain', 'Explain one event.', 'evt_0123456789abcdef01234567').argument(
    '<event_id>',
    'the event, `evt_...`',
  );
  const compliance = advisor(
    command,
    terminal,
    'compliance',
    'Suggest rules for a compliance framework, and list the gaps.',
    '--framework hipaa',
  ).addOption(
    new Option('--framework <name>', 'the framework')
      .choices(FRAMEWORKS)
      .argParser(framework)
      .makeOptionMandatory(),
  );
  outputDir(compliance);
  const integrate = advisor(
    command,
    terminal,
    'integrate',
    'Suggest code that connects a project to this service.',
    '--target langchain',
  )
    .requiredOption('--target <framework>', 'the agent framework')
    .option('--path <folder>', 'the project', '.');
  outputDir(integrate);
  addExamples(command, [
    ['service intelligence recommend --since 7d', ''],
    ['service intelligence explain evt_0123456789abcdef01234567', ''],
    ['service intelligence compliance --framework hipaa', ''],
  ]);
}

const FRAMEWORKS = ['hipaa', 'pci-dss', 'soc2', 'gdpr'];

function framework(name: string): string {
  const known = name.toLowerCase();
  if (FRAMEWORKS.includes(known)) return known;
  throw new InvalidArgumentError(`The framework is one of ${FRAMEWORKS.join(', ')}.`);
}

function advisor(
  command: Command,
  terminal: Terminal,
  name: string,
  description: string,
  example: string,
): Command {
  const made = command
    .command(name)
    .summary(description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, ''))
    .description(description)
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((...args: unknown[]) => refuse(args.at(-1) as Command, terminal));
  addExamples(made, [[`service intelligence ${name} ${example}`.trimEnd(), '']]);
  return made;
}

function outputDir(command: Command): void {
  command.option('--output-dir <folder>', 'where suggestions are staged', STAGING_DIR);
}

async function refuse(command: Command, terminal: Terminal): Promise<void> {
  const path = command.opts<{ config?: string }>().config;
  const config = await loadCliConfig(terminal, path);
  if (config.intelligence.enabled) {
    throw new CommandFailure(
      EXIT.no,
      'not_configured',
      'The intelligence layer is disabled: this version cannot run it yet.',
      {
        hint: '`intelligence.enabled` is noted, and nothing was sent anywhere.',
      },
    );
  }
  throw new CommandFailure(EXIT.no, 'not_configured', 'The intelligence layer is disabled.', {
    hint: 'To turn it on, set `intelligence.enabled: true` and `intelligence.backend` in service.yaml.',
  });
}
