import { access, constants, stat } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { CodingAgent } from '../record/coding-agent.ts';
import type { AgentSettings, Machine } from '../record/settings.ts';

/**
 * Returns the agents that are on this machine: their program is in the `PATH`, or a folder of their settings exists.
 */
export async function findAgents(
  agents: readonly CodingAgent[],
  machine: Machine,
): Promise<readonly CodingAgent[]> {
  const found = await Promise.all(agents.map(({ settings }) => isOnMachine(settings, machine)));
  return agents.filter((_, at) => found[at]);
}

async function isOnMachine(settings: AgentSettings, machine: Machine): Promise<boolean> {
  const folders = settings.targets(machine).map(({ path }) => dirname(path));
  const programs = settings.programs.flatMap((name) =>
    (machine.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)),
  );
  const found = await Promise.all([...folders.map(isFolder), ...programs.map(isProgram)]);
  return found.includes(true);
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
