import type { Config } from '../../runtime/config/index.ts';
import type { ConfigRequest } from '../../runtime/policies/load-config.ts';
import { CommandFailure, EXIT } from './exit.ts';
import type { Terminal } from './terminal.ts';

/**
 * The configuration in use: `path`, else what the environment and the current folder say, else the defaults. No command
 * calls a provider, so that none asks for their credentials; who needs no credential at all leaves every secret,
 * and works while their backend does not.
 */
export async function configOf(
  terminal: Terminal,
  path: string | undefined,
  secrets: ConfigRequest['secrets'] = 'decide',
): Promise<Config> {
  const [{ formatProblem }, { loadConfig }] = await Promise.all([
    import('../../runtime/config/index.ts'),
    import('../../runtime/policies/load-config.ts'),
  ]);
  const { env, cwd } = terminal;
  const result = await loadConfig({ path: path ?? null, env, cwd, secrets });
  if (result.ok) return result.config;
  throw new CommandFailure(EXIT.usage, 'invalid_configuration', 'The configuration is not valid:', {
    details: result.problems,
    lines: result.problems.map(formatProblem),
    hint: 'Fix it, then check again with `service validate`.',
  });
}
