import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CodingAgent } from '../../../coding-agents/record/coding-agent.ts';
import type { Machine } from '../../../coding-agents/record/settings.ts';
import { removeFolders } from '../../../coding-agents/setup/settings-file.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { askConsent } from '../../../operations/cli-kit/consent.ts';
import {
  escapeControls,
  paintText,
  printJson,
  printLine,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import { getProjectConfigFolder } from '../../../platform/files/user-folder.ts';
import { connectService } from '../../../server/socket-client.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import {
  type AgentPlan,
  applyPlan,
  buildAgentResult,
  findInstalledConfig,
  listPendingChanges,
  planAgent,
  printPlan,
  readMachine,
  type SetupOptions,
} from './agent-plan.ts';

/** Removes one coding agent's hooks from its settings. */
export async function uninstallAgent(
  agent: CodingAgent,
  options: SetupOptions,
  terminal: Terminal,
): Promise<void> {
  const plan = await planUninstall(agent, await readMachine(options, terminal), options, terminal);
  const written = await writePlans([plan], null, options, terminal);
  if (options.json) printJson(terminal, buildAgentResult(plan, written.paths, written.done));
}

/**
 * Removes all coding agents' hooks from the settings in one scope. With `purge` it also deletes the configuration
 * that setup keeps for the project in the user's folder, with its state and audit log.
 */
export async function uninstallAll(
  agents: readonly CodingAgent[],
  options: SetupOptions & { readonly purge?: true },
  terminal: Terminal,
): Promise<void> {
  const machine = await readMachine(options, terminal);
  const plans: AgentPlan[] = [];
  for (const agent of agents) {
    if (!agent.settings.targets(machine).some(({ scope }) => scope === options.scope)) continue;
    const plan = await planUninstall(agent, machine, options, terminal);
    if (listPendingChanges(plan.setup).length > 0) plans.push(plan);
  }
  const folder = getProjectConfigFolder(machine.project, machine.env, machine.home);
  const purged = options.purge && existsSync(folder) ? folder : null;
  const { done, paths } = await writePlans(plans, purged, options, terminal);
  if (!options.json) return;
  const results = plans.map((plan) => buildAgentResult(plan, paths, done));
  printJson(terminal, { agents: results, deleted: done ? purged : null, done });
}

async function planUninstall(
  agent: CodingAgent,
  machine: Machine,
  options: SetupOptions,
  terminal: Terminal,
): Promise<AgentPlan> {
  const config = await findInstalledConfig(agent, machine, options, terminal);
  const known = config === null ? null : { file: config.origin.file ?? '', state_dir: config.state_dir };
  return planAgent(agent, machine, options, [], known);
}

/** Shows the plans, asks once, and writes them. The folder goes last, because it holds what undoes the settings. */
async function writePlans(
  plans: readonly AgentPlan[],
  purged: string | null,
  options: SetupOptions,
  terminal: Terminal,
): Promise<{ readonly done: boolean; readonly paths: readonly string[] }> {
  const isQuiet = options.json === true;
  if (!isQuiet) {
    for (const plan of plans) printPlan(plan, terminal);
    if (purged !== null) {
      printLine(terminal, paintText(terminal, 'bold', `Configuration in ${escapeControls(purged)}`));
      printLine(terminal, '  delete  the configuration, its policy packs and its audit log\n');
    }
  }
  const pending = plans.some(({ setup }) => listPendingChanges(setup).length > 0) || purged !== null;
  const done = pending && (await askConsent('Write this?', options, terminal));
  const paths: string[] = [];
  if (done) for (const plan of plans) paths.push(...(await applyPlan(plan, options, terminal, isQuiet)));
  if (done && purged !== null) {
    await deleteConfiguration(purged, terminal);
    if (!isQuiet) printLine(terminal, `deleted  ${escapeControls(purged)}`);
  }
  if (!isQuiet) printOutcome(plans, pending, done, terminal);
  return { done, paths };
}

function printOutcome(
  plans: readonly AgentPlan[],
  pending: boolean,
  done: boolean,
  terminal: Terminal,
): void {
  if (!pending) printLine(terminal, 'There are no hooks of this program.');
  else if (!done) printLine(terminal, 'Nothing was changed.');
  if (pending && !done) return;
  for (const { remarks } of plans)
    for (const line of remarks) printLine(terminal, `note: ${escapeControls(line)}`);
}

/** The time in milliseconds that a daemon has to end. */
const END_MS = 5_000;
const PAUSE_MS = 50;

/** Ends the hooks' daemon and deletes the folder. @throws CommandFailure if a service with an address uses it */
async function deleteConfiguration(folder: string, terminal: Terminal): Promise<void> {
  const { state_dir } = await loadCliConfig(terminal, join(folder, 'service.yaml'), 'leave');
  const daemon = await connectService(state_dir);
  if (daemon !== null) {
    const { pid, url } = await daemon.status().finally(daemon.close);
    if (url !== null)
      throw new CommandFailure(EXIT.no, 'state_in_use', `The service at ${url} uses \`${folder}\`.`, {
        hint: 'Stop it, then run this again.',
      });
    process.kill(pid, 'SIGTERM');
    const deadlineMs = Date.now() + END_MS;
    while (isRunning(pid) && Date.now() < deadlineMs) await sleep(PAUSE_MS);
  }
  await rm(folder, { recursive: true });
  await removeFolders([dirname(dirname(folder)), dirname(folder)]);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
