import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { getPackageVersion } from '../../platform/version.ts';
import { featureCommands } from './feature-commands.ts';
import { loadCliConfig } from './load-cli-config.ts';

/** Each part is loaded when a command calls it. */
export const commandPorts: CommandPorts = {
  loadConfig: loadCliConfig,
  runOperation: async (terminal, configPath, operation, input) => {
    const { runOperation } = await import('./run-operation.ts');
    return runOperation(terminal, configPath, operation, input);
  },
  callService: async ({ state_dir }, operation, input) => {
    const { connectService } = await import('../../server/socket-client.ts');
    const client = await connectService(state_dir);
    return client === null ? null : client.run(operation, input).finally(client.close);
  },
  openRuntime: async (config) => {
    const { openLocalRuntime } = await import('../../server/local.ts');
    return openLocalRuntime(config, getPackageVersion());
  },
  loadPacks: async () => {
    const packs = await featureCommands.find(({ loadPacks }) => loadPacks !== undefined)?.loadPacks?.();
    if (packs !== undefined) return packs;
    throw new CommandFailure(EXIT.usage, 'not_available', 'This program has no evidence packs.');
  },
  loadShipping: async () => {
    const shipping = await featureCommands
      .find(({ loadShipping }) => loadShipping !== undefined)
      ?.loadShipping?.();
    if (shipping !== undefined) return shipping;
    throw new CommandFailure(EXIT.usage, 'not_available', 'This program cannot ship its audit log.');
  },
  requireJournal: async (config) => {
    const { requireJournal } = await import('./run-operation.ts');
    return requireJournal(config);
  },
  probeModel: async (settings, env) => {
    const { probeModel } = await import('../../gateways/advisor-model/probe-model.ts');
    return probeModel(settings, env);
  },
  findCodingAgent: async (wanted) => {
    const { codingAgents } = await import('../../coding-agents/coding-agents.ts');
    return codingAgents.find(({ name }) => name === wanted);
  },
};
