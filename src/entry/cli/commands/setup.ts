import { Argument, type Command, Option } from 'commander';
import { hosts, type Scope } from '../../../runtime/hosts/index.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { configOption, examples, jsonOption } from '../options.ts';
import { frameworks } from '../setup/frameworks.ts';
import { setupNames, tellNames, unknownName } from '../setup/names.ts';
import type { Consent } from '../skills/consent.ts';
import type { Terminal } from '../terminal.ts';

interface SetupOptions extends Consent {
  readonly scope?: Scope;
  readonly path: string;
  readonly config?: string;
  readonly mcp?: true;
  readonly uninstall?: true;
  readonly list?: true;
  readonly force?: true;
}

export function setup(command: Command, terminal: Terminal): void {
  const name = new Argument('[name]', 'what to set up; --list shows all');
  name.argChoices = [...setupNames];
  command
    .description(
      'Have an agent ask this service before it acts. For a coding agent: enters the hooks into the agent’s own settings, which are\n' +
        'kept as they are otherwise. What would change is shown first; --uninstall leaves the settings as they were.\n' +
        'For a framework: writes one file that guards it over HTTP.',
    )
    .addArgument(name)
    .addOption(
      new Option('--scope <scope>', 'whose settings (default: project)').choices([
        'project',
        'local',
        'user',
      ]),
    )
    .option('--path <folder>', 'the project', '.')
    .option('--force', 'write over a framework’s file that was changed')
    .option('--mcp', 'add the service to the agent’s MCP servers too')
    .option('--uninstall', 'take everything out again')
    .option('--list', 'list what can be set up')
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show what would change, and change nothing')
    .addOption(configOption())
    .addOption(jsonOption())
    .action((given: string | undefined, options: SetupOptions) => run(given, options, terminal));
  examples(command, [
    ['service setup claude-code', 'see the change, say yes'],
    ['service setup codex --scope user --config ~/safety/service.yaml', 'in every project'],
    ['service setup cursor --mcp --yes', 'in a script, with the MCP server'],
    ['service setup claude-code --uninstall', 'as it was before'],
    ['service setup langchain', 'writes service_langchain.py here'],
    ['service setup --list', 'what there is'],
  ]);
}

async function run(name: string | undefined, options: SetupOptions, terminal: Terminal): Promise<void> {
  if (options.list) return tellNames(options.json === true, terminal);
  if (name === undefined)
    throw new CommandFailure(EXIT.usage, 'usage', 'What is to be set up?', {
      hint: `There are: ${setupNames.join(', ')}.`,
    });
  const host = hosts.find((each) => each.name === name);
  refuseMisplaced(options, host !== undefined);
  if (host !== undefined) {
    const { setUpHost } = await import('../setup/host.ts');
    return setUpHost(host, { ...options, scope: options.scope ?? 'project' }, terminal);
  }
  const framework = frameworks.find((each) => each.name === name);
  if (framework !== undefined) {
    const { setUpFramework } = await import('../setup/framework.ts');
    return setUpFramework(framework, options, terminal);
  }
  if (name !== 'generic') throw unknownName(name);
  const { tellGeneric } = await import('../setup/generic.ts');
  tellGeneric(options.config, terminal);
}

/** An option that would do nothing is a misunderstanding. */
function refuseMisplaced({ scope, mcp, force }: SetupOptions, is_host: boolean): void {
  const given = is_host ? { '--force': force } : { '--scope': scope, '--mcp': mcp };
  const misplaced = Object.entries(given).find(([, value]) => value !== undefined)?.[0];
  if (misplaced === undefined) return;
  const whom = is_host ? 'frameworks' : 'coding agents';
  throw new CommandFailure(EXIT.usage, 'usage', `${misplaced} is for ${whom} only.`, {
    hint: 'Leave it out; `service setup --list` says which is what.',
  });
}
