import { dirname, join } from 'node:path';
import type { Machine } from '../../../coding-agents/record/settings.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import type { Terminal } from '../../../operations/cli-kit/terminal.ts';
import { getProjectConfigFolder, getUserConfigFolder } from '../../../platform/files/user-folder.ts';
import type { Config } from '../../../runtime/config/index.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import { buildScaffoldFiles } from '../scaffold/files.ts';
import type { ScaffoldFile } from '../scaffold/write.ts';
import type { HookConfig, SetupOptions } from './agent-plan.ts';

/** The configuration that hooks will name, and the files to write first if there is no configuration yet. */
export interface PlannedConfiguration extends HookConfig {
  readonly missing: readonly ScaffoldFile[];
}

/**
 * Finds the configuration for hooks, or plans a new one: in the user's own folder, or for shared hooks in the project.
 * @throws CommandFailure if the configuration is not valid, because a hook would deny every tool call
 */
export async function planConfiguration(
  options: Pick<SetupOptions, 'config' | 'scope' | 'shared'>,
  machine: Machine,
  terminal: Terminal,
): Promise<PlannedConfiguration> {
  const { env, cwd } = terminal;
  const { config: path, scope, shared } = options;
  const inProject = { ...terminal, cwd: env.SERVICE_CONFIG || path !== undefined ? cwd : machine.project };
  const own = join(getNewFolder(options, machine), 'service.yaml');
  const config = await loadCliConfig(inProject, path, 'leave');
  const { file } = config.origin;
  const isPrivate = file === join(getProjectConfigFolder(machine.project, env, machine.home), 'service.yaml');
  // A team cannot use the configuration that one member has at home.
  if (file !== null && !(shared && isPrivate)) return checkConfiguration(config, file, terminal);
  if (scope === 'user') {
    const users = await loadCliConfig(terminal, own, 'leave').catch(() => null);
    if (users?.origin.file) return checkConfiguration(users, users.origin.file, terminal);
  }
  return { file: own, state_dir: join(dirname(own), '.service'), missing: buildScaffoldFiles(false, null) };
}

function getNewFolder(
  { scope, shared }: Pick<SetupOptions, 'scope' | 'shared'>,
  { project, home, env }: Machine,
): string {
  if (shared) return project;
  return scope === 'user' ? getUserConfigFolder(env, home) : getProjectConfigFolder(project, env, home);
}

async function checkConfiguration(
  config: Config,
  file: string,
  { env, cwd }: Terminal,
): Promise<PlannedConfiguration> {
  const { validateConfiguration } = await import('../../../runtime/policies/index.ts');
  const { loadConfig } = await import('../../../server/load-config.ts');
  const { formatProblem } = await import('../../../runtime/config/index.ts');
  const { problems } = await validateConfiguration({ path: file, env, cwd, secrets: 'leave' }, loadConfig);
  if (problems.length === 0) return { file, state_dir: config.state_dir, missing: [] };
  throw new CommandFailure(
    EXIT.usage,
    'invalid_configuration',
    'A hook would deny everything, because the configuration is not valid:',
    {
      details: problems,
      lines: problems.map(formatProblem),
      hint: `Fix it, then run \`customshouse validate --config ${file}\`.`,
    },
  );
}
