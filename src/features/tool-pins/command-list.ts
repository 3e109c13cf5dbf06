import type { FeatureCommands } from '../../operations/cli-kit/command.ts';

/** The feature's commands. */
export const toolPinCommands: FeatureCommands = {
  additions: [{ to: 'mcp', load: async () => (await import('./commands.ts')).definePins }],
};
