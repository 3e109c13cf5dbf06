import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import type { Terminal } from '../../operations/cli-kit/terminal.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { ConfigRequest } from '../../runtime/policies/load-config.ts';

/**
 * Returns the configuration: from `path`, otherwise from the environment or the current folder, otherwise the defaults.
 * No command calls a provider, so provider credentials are not resolved. A command that needs no credential at all
 * leaves every secret unresolved, and works while the secret backend does not.
 */
export async function loadCliConfig(
  terminal: Terminal,
  path: string | undefined,
  secrets: ConfigRequest['secrets'] = 'decide',
): Promise<Config> {
  const [{ formatProblem }, { loadConfig }] = await Promise.all([
    import('../../runtime/config/index.ts'),
    import('../../server/load-config.ts'),
  ]);
  const { env, cwd } = terminal;
  const result = await loadConfig({ path: path ?? null, env, cwd, secrets });
  if (result.ok) return result.config;
  throw new CommandFailure(EXIT.usage, 'invalid_configuration', 'The configuration is not valid:', {
    details: result.problems,
    lines: result.problems.map(formatProblem),
    hint: 'Fix it, then check again with `customshouse validate`.',
  });
}
