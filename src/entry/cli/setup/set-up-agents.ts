import { realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Writable } from 'node:stream';
import type { CodingAgent } from '../../../coding-agents/record/coding-agent.ts';
import type { Machine } from '../../../coding-agents/record/settings.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { askConsent } from '../../../operations/cli-kit/consent.ts';
import {
  escapeControls,
  paintText,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { Diagnosis } from '../doctor/diagnose.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import { writeMissingFiles } from '../scaffold/write.ts';
import {
  type AgentPlan,
  applyPlan,
  buildAgentResult,
  listPendingChanges,
  planAgent,
  printPlan,
  readMachine,
  type SetupOptions,
} from './agent-plan.ts';
import { type PlannedConfiguration, planConfiguration } from './configuration.ts';
import { copyProgram, findProgram, type InstalledProgram } from './find-program.ts';

export interface AgentsOptions extends SetupOptions {
  /**
   * Policy packs to add. With `null`, a new configuration gets the pack for coding agents, and an existing one gets
   * none.
   */
  readonly packs: readonly string[] | null;
  /** Tests the hooks afterwards, unless the user declines the changes. */
  readonly doctor: boolean;
}

/** The default pack of a new configuration. */
const PACK = 'coding-agent';

/**
 * Installs the hooks of coding agents, and a configuration and policy packs if they are missing: shows every change,
 * asks once, writes, and tests the hooks.
 * @throws CommandFailure if the user stops, or if there is no terminal for the question
 */
export async function setUpAgents(
  agents: readonly CodingAgent[],
  options: AgentsOptions,
  terminal: Terminal,
): Promise<void> {
  const machine = await readMachine(options, terminal);
  const program = findProgram({ env: terminal.env });
  const configuration = await planConfiguration(options, machine, terminal);
  const wanted = options.packs ?? (configuration.missing.length > 0 ? [PACK] : []);
  const packs = await findMissingPacks(wanted, configuration, terminal);
  const plans: AgentPlan[] = [];
  for (const agent of agents)
    plans.push(await planAgent(agent, machine, options, program.words, configuration));
  if (!options.json) printPlans(plans, { configuration, packs, program }, terminal);
  const hasChanges = configuration.missing.length + packs.length + countPendingChanges(plans) > 0;
  const goesOn = hasChanges && (await askConsent('Write this?', options, terminal, true));
  const written = goesOn
    ? await writeAll(plans, { configuration, packs, program }, options, terminal)
    : NOTHING;
  const diagnosis =
    options.doctor && !options.dryRun && goesOn === hasChanges
      ? await examineHooks(agents, machine, program, options, terminal)
      : null;
  if (options.json) {
    const results = plans.map((plan) => buildAgentResult(plan, written.paths, goesOn));
    const one = results.length === 1 ? results[0] : { agents: results, done: goesOn };
    const { file } = configuration;
    const tried = diagnosis && {
      status: diagnosis.status,
      tried: diagnosis.tried_count,
      blocking: diagnosis.blocking_count,
    };
    printJson(terminal, {
      ...one,
      config_file: file,
      created: written.created,
      packs: written.packs,
      doctor: tried,
    });
  } else {
    printResult(plans, goesOn, hasChanges, diagnosis, terminal);
    if (diagnosis !== null) await printConsole(configuration.file, terminal);
    if (!options.dryRun && goesOn === hasChanges) {
      const { showPastCalls } = await import('../past/show-past-calls.ts');
      await showPastCalls(agents, machine, { ...options, config: configuration.file }, terminal);
    }
  }
  if (diagnosis?.blocking_count === 0) terminal.exit_code = EXIT.no;
}

/** Returns the packs that are not added yet. @throws SkillFailure for an unknown pack, before anything is written */
async function findMissingPacks(
  wanted: readonly string[],
  { file, missing }: PlannedConfiguration,
  terminal: Terminal,
): Promise<readonly string[]> {
  if (wanted.length === 0) return [];
  const { listSkills, openSkill } = await import('../../../runtime/skills/index.ts');
  const skills = await Promise.all(
    wanted.map(async (source) => ({ source, name: (await openSkill(source, terminal)).name })),
  );
  if (missing.length > 0) return wanted;
  const added = (await listSkills(await loadCliConfig(terminal, file, 'leave'))).skills.map(
    ({ name }) => name,
  );
  return skills.filter(({ name }) => !added.includes(name)).map(({ source }) => source);
}

interface Parts {
  readonly configuration: PlannedConfiguration;
  readonly packs: readonly string[];
  readonly program: InstalledProgram;
}

interface Written {
  /** Settings files of agents. */
  readonly paths: readonly string[];
  /** Files of the configuration. */
  readonly created: readonly string[];
  readonly packs: readonly string[];
}

const NOTHING: Written = { paths: [], created: [], packs: [] };

function countPendingChanges(plans: readonly AgentPlan[]): number {
  return plans.reduce((all, { setup }) => all + listPendingChanges(setup).length, 0);
}

function printPlans(
  plans: readonly AgentPlan[],
  { configuration, packs, program }: Parts,
  terminal: Terminal,
): void {
  const { file, missing } = configuration;
  if (program.copy !== null) {
    printLine(terminal, paintText(terminal, 'bold', 'Program'));
    printLine(
      terminal,
      `  copy to ${escapeControls(program.copy.to)}, because npx clears the folder it runs from`,
    );
    printLine(terminal);
  }
  if (missing.length > 0 || packs.length > 0) {
    printLine(terminal, paintText(terminal, 'bold', `Configuration in ${escapeControls(dirname(file))}`));
    for (const { path } of missing) printLine(terminal, `  create  ${path}`);
    for (const pack of packs) printLine(terminal, `  add     policy pack ${escapeControls(pack)}`);
    printLine(terminal);
  }
  for (const plan of plans) printPlan(plan, terminal);
}

/** Writes the program first and the hooks last, so that no hook names a file that does not exist yet. */
async function writeAll(
  plans: readonly AgentPlan[],
  { configuration, packs, program }: Parts,
  options: AgentsOptions,
  terminal: Terminal,
): Promise<Written> {
  const isQuiet = options.json === true;
  if (program.copy !== null) {
    if (!isQuiet) printNotice(terminal, `Copying the program to ${escapeControls(program.copy.to)} ...`);
    await copyProgram(program.copy);
  }
  const folder = dirname(configuration.file);
  const { created } = await writeMissingFiles(folder, configuration.missing);
  if (!isQuiet)
    for (const path of created)
      printLine(terminal, `created  ${escapeControls(formatPath(folder, path, terminal))}`);
  const added: string[] = [];
  for (const pack of packs) if (await addPack(pack, configuration.file, isQuiet, terminal)) added.push(pack);
  const paths: string[] = [];
  for (const plan of plans) paths.push(...(await applyPlan(plan, options, terminal, isQuiet)));
  return { paths, created, packs: added };
}

function formatPath(folder: string, path: string, { cwd }: Terminal): string {
  const shown = join(relative(cwd, folder), path);
  return shown.startsWith('..') ? join(folder, path) : shown;
}

/** Adds a pack. A pack that allows more than the current policy is left to the user, and setup continues. */
async function addPack(pack: string, config: string, isQuiet: boolean, terminal: Terminal): Promise<boolean> {
  const { addSkill } = await import('../skills/add.ts');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    await addSkill(pack, { config, yes: true }, { ...terminal, stdout: silent });
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.code !== 'less_strict') throw error;
    const command = `customshouse skills add ${pack} --config ${config} --allow-less-strict`;
    printNotice(
      terminal,
      `The policy pack ${pack} was not added, because it allows more than the policy does: ${command}`,
    );
    return false;
  }
  if (!isQuiet) printLine(terminal, `added    policy pack ${pack}`);
  return true;
}

async function examineHooks(
  agents: readonly CodingAgent[],
  { project, env }: Machine,
  { words }: InstalledProgram,
  { scope, json }: AgentsOptions,
  terminal: Terminal,
): Promise<Diagnosis> {
  if (!json) printNotice(terminal, '\nTesting the hooks, as each agent calls them ...');
  const { diagnoseSetup } = await import('../doctor/diagnose.ts');
  return diagnoseSetup({
    coding_agent: agents.length === 1 ? agents[0]!.name : null,
    scope,
    config: null,
    since_ms: Date.now(),
    project: await realpath(project),
    program: words,
    env,
    now_ms: Date.now,
  });
}

function printResult(
  plans: readonly AgentPlan[],
  done: boolean,
  hasChanges: boolean,
  diagnosis: Diagnosis | null,
  terminal: Terminal,
): void {
  if (!hasChanges) printLine(terminal, 'Nothing to change.');
  else if (!done) printLine(terminal, 'Nothing was changed.');
  if (done || !hasChanges)
    for (const [line, labels] of groupRemarks(plans))
      printLine(terminal, `note: ${plans.length > 1 ? `${labels.join(', ')}: ` : ''}${escapeControls(line)}`);
  if (diagnosis !== null) printHookTests(diagnosis, terminal);
  if (!done || diagnosis !== null || plans.length === 0) return;
  const one = plans.length === 1 ? ` --coding-agent ${plans[0]!.agent.name}` : '';
  printLine(terminal, `\nSee whether it blocks:\n  ${terminal.name} doctor${one}`);
}

/** Groups the agents by remark, so that each is printed once. */
function groupRemarks(plans: readonly AgentPlan[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { agent, remarks } of plans)
    for (const line of remarks) groups.set(line, [...(groups.get(line) ?? []), agent.label]);
  return groups;
}

/** Prints how to open the console. The hooks' daemon has no address. */
async function printConsole(configFile: string, terminal: Terminal): Promise<void> {
  const { toReachableHost } = await import('../start-report.ts');
  const { host, port } = (await loadCliConfig(terminal, configFile, 'leave')).server;
  const url = `http://${toReachableHost(host)}:${port}/dashboard`;
  printLine(terminal, `Console: ${terminal.name} serve, then ${url}`);
}

function printHookTests(
  { status, tried_count, blocking_count, checks }: Diagnosis,
  terminal: Terminal,
): void {
  const line = `${blocking_count} of ${tried_count} hooks block a destructive test call and allow a harmless one.`;
  printLine(terminal, paintText(terminal, status === 'fail' ? 'red' : 'green', line));
  for (const check of checks.filter((each) => each.status === 'fail')) {
    printLine(terminal, `  ${escapeControls(check.message)}`);
    if (check.next !== null) printLine(terminal, `    ${escapeControls(check.next)}`);
  }
  if (checks.some((each) => each.status !== 'ok')) printLine(terminal, `All checks: ${terminal.name} doctor`);
}
