import { access, constants, stat } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { type Host, hosts, type Machine } from '../../../coding-agents/hosts/index.ts';

/** Returns the coding agents of this machine: their program is in the PATH, or a folder of their settings exists. */
export async function findAgents(machine: Machine): Promise<readonly Host[]> {
  const found = await Promise.all(hosts.map((host) => isHere(host, machine)));
  return hosts.filter((_, at) => found[at]);
}

async function isHere(host: Host, machine: Machine): Promise<boolean> {
  const folders = host.targets(machine).map(({ path }) => dirname(path));
  const programs = host.programs.flatMap((name) =>
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
