import { Argument, type Command, Option } from 'commander';
import { codingAgents } from '../../../coding-agents/coding-agents.ts';
import type { SettingsScope } from '../../../coding-agents/record/settings.ts';
import { agentFrameworks } from '../../../operations/agent-frameworks.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import type { Consent } from '../../../operations/cli-kit/consent.ts';
import {
  addExamples,
  buildConfigOption,
  buildJsonOption,
  collectValues,
} from '../../../operations/cli-kit/options.ts';
import type { Terminal } from '../../../operations/cli-kit/terminal.ts';
import { explainUnknownSetupName, printSetupNames, setupNames } from '../setup/setup-names.ts';

interface SetupOptions extends Consent {
  readonly scope?: SettingsScope;
  readonly path: string;
  readonly config?: string;
  readonly mcp?: true;
  readonly shared?: true;
  readonly pack?: readonly string[];
  readonly uninstall?: true;
  readonly purge?: true;
  readonly list?: true;
  readonly force?: true;
}

export function defineSetup(command: Command, terminal: Terminal): void {
  const name = new Argument('[name]', 'agent or framework to set up; --list shows all');
  name.argChoices = [...setupNames];
  command
    .description(
      'Guard coding agents, or write a guard for an agent framework. Without a name: find the coding agents on this machine, show what would change, ask once, install their hooks and try them. A configuration is written if there is none. Settings keep everything else; --uninstall restores them byte for byte. For a framework: write one file that guards it over HTTP.',
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
    .option(
      '--pack <name>',
      'a policy pack to add, or `none` (default: coding-agent for a new configuration)',
      collectValues,
    )
    .option(
      '--shared',
      'with --scope project: write no absolute path, so that a team can commit the hook; `customshouse` must be in the PATH',
    )
    .option('--force', 'overwrite a framework file that was edited')
    .option('--mcp', 'add the service to the agent’s MCP servers too')
    .option('--uninstall', 'restore the settings; without a name, those of all coding agents')
    .option(
      '--purge',
      'with --uninstall and without a name: also delete the configuration that setup keeps for the project, and its audit log',
    )
    .option('--list', 'list what can be set up')
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show what would change, and change nothing')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((given: string | undefined, options: SetupOptions) => runSetup(given, options, terminal));
  addExamples(command, [
    ['customshouse setup', 'all coding agents of this machine'],
    ['customshouse setup claude-code', 'show the change and confirm it'],
    ['customshouse setup codex --scope user --config ~/safety/service.yaml', 'in every project'],
    ['customshouse setup cursor --mcp --yes', 'in a script, with the MCP server'],
    ['customshouse setup --uninstall', 'as it was before'],
    ['customshouse setup claude-code --shared', 'for a team that commits the settings'],
    ['customshouse setup langchain', 'writes service_langchain.py here'],
    ['customshouse setup --list', 'all of them'],
  ]);
}

async function runSetup(name: string | undefined, options: SetupOptions, terminal: Terminal): Promise<void> {
  if (options.list) return printSetupNames(options.json === true, terminal);
  if (options.purge && (name !== undefined || !options.uninstall || options.scope === 'user'))
    throw new CommandFailure(EXIT.usage, 'usage', '--purge is for a whole project.', {
      hint: 'Use it with `customshouse setup --uninstall`, without a name and without --scope user.',
    });
  if (!options.uninstall && !options.dryRun) {
    const { moveEarlierFolders } = await import('../setup/earlier-folders.ts');
    moveEarlierFolders(terminal);
  }
  if (name === undefined) return setUpFound(options, terminal);
  const host = codingAgents.find((each) => each.name === name);
  refuseMisplaced(options, host !== undefined);
  refuseShared(options);
  if (host !== undefined) {
    const scope = options.scope ?? 'project';
    if (options.uninstall)
      return (await import('../setup/uninstall.ts')).uninstallAgent(host, { ...options, scope }, terminal);
    const { setUpAgents } = await import('../setup/set-up-agents.ts');
    return setUpAgents([host], { ...options, scope, packs: getPacks(options), doctor: false }, terminal);
  }
  const framework = agentFrameworks.find((each) => each.name === name);
  if (framework !== undefined) {
    const { setUpFramework } = await import('../setup/framework.ts');
    return setUpFramework(framework, options, terminal);
  }
  if (name !== 'generic') throw explainUnknownSetupName(name);
  const { printGenericInstructions } = await import('../setup/generic.ts');
  printGenericInstructions(options.config, terminal);
}

/** Sets up the coding agents of this machine: those that the user selects, or all that were found. */
async function setUpFound(options: SetupOptions, terminal: Terminal): Promise<void> {
  if (options.uninstall) {
    const scope = options.scope ?? 'project';
    const { uninstallAll } = await import('../setup/uninstall.ts');
    return uninstallAll(codingAgents, { ...options, scope }, terminal);
  }
  if (options.force)
    throw new CommandFailure(EXIT.usage, 'usage', 'Name the agent or framework that is meant.', {
      hint: '`customshouse setup --list` shows them.',
    });
  const { findAgents } = await import('../../../coding-agents/setup/find-agents.ts');
  const { findMcpServers } = await import('../../../coding-agents/setup/find-mcp-servers.ts');
  const { readMachine } = await import('../setup/agent-plan.ts');
  const { setUpAgents } = await import('../setup/set-up-agents.ts');
  const machine = await readMachine(options, terminal);
  const found = await findAgents(codingAgents, machine);
  const isInteractive = terminal.interactive && !options.yes && !options.json && !options.dryRun;
  const choice = isInteractive
    ? await (await import('../setup/questions.ts')).askSetup(found, await findMcpServers(found, machine))
    : {
        agents: found,
        scope: options.scope ?? ('project' as const),
        packs: getPacks(options) ?? ['coding-agent'],
      };
  refuseShared({ ...options, scope: choice.scope });
  if (choice.agents.length === 0)
    throw new CommandFailure(EXIT.no, 'agent_not_found', 'No coding agent was found on this machine.', {
      hint: 'Name one, as in `customshouse setup claude-code`; `customshouse setup --list` shows them.',
    });
  await setUpAgents(choice.agents, { ...options, ...choice, doctor: true }, terminal);
}

function getPacks({ pack }: SetupOptions): readonly string[] | null {
  return pack === undefined ? null : pack.filter((name) => name !== 'none');
}

/** Refuses `--shared` with options that would still write paths of this machine. */
function refuseShared({ shared, scope, mcp }: Pick<SetupOptions, 'shared' | 'scope' | 'mcp'>): void {
  if (!shared) return;
  const other = mcp ? '--mcp' : scope !== undefined && scope !== 'project' ? `--scope ${scope}` : null;
  if (other === null) return;
  throw new CommandFailure(EXIT.usage, 'usage', `--shared cannot be used together with ${other}.`, {
    hint: '`--shared` applies to hooks in the settings of a project.',
  });
}

/** Refuses options that would have no effect, because they are probably a mistake. */
function refuseMisplaced({ scope, mcp, shared, force, pack }: SetupOptions, isHost: boolean): void {
  const given = isHost
    ? { '--force': force }
    : { '--scope': scope, '--mcp': mcp, '--shared': shared, '--pack': pack };
  const misplaced = Object.entries(given).find(([, value]) => value !== undefined)?.[0];
  if (misplaced === undefined) return;
  const kind = isHost ? 'frameworks' : 'coding agents';
  throw new CommandFailure(EXIT.usage, 'usage', `${misplaced} is for ${kind} only.`, {
    hint: 'Leave it out; `customshouse setup --list` says which is what.',
  });
}
