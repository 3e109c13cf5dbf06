import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { CodingAgent } from '../../../coding-agents/record/coding-agent.ts';
import {
  formatHookCommand,
  quoteArg,
  replaceProjectFolder,
} from '../../../coding-agents/record/hook-command.ts';
import type { Machine, SettingsLocation, SettingsScope } from '../../../coding-agents/record/settings.ts';
import {
  type FileRequest,
  planSetup,
  type SetupMode,
  type SetupPlan,
} from '../../../coding-agents/setup/apply.ts';
import { planHooksPart, planServerPart } from '../../../coding-agents/setup/parts.ts';
import { listSettingsFiles, readInstalledHooks } from '../../../coding-agents/setup/settings-locations.ts';
import { EARLIER_NAME, PACKAGE_NAME } from '../../../core/names.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import type { Consent } from '../../../operations/cli-kit/consent.ts';
import { formatDiff, printDiff } from '../../../operations/cli-kit/diff-text.ts';
import {
  escapeControls,
  paintText,
  printLine,
  printNotice,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { Config } from '../../../runtime/config/index.ts';
import { resolveFolder } from './resolve-folder.ts';

export interface SetupOptions extends Consent {
  readonly scope: SettingsScope;
  readonly path: string;
  readonly config?: string;
  readonly mcp?: true;
  /** The hook names no path of this machine, so that a team can commit it. */
  readonly shared?: true;
  readonly uninstall?: true;
}

/** The configuration that hooks name, by its absolute path, and the folder that keeps what undoes a change. */
export interface HookConfig {
  readonly file: string;
  readonly state_dir: string;
}

/** The changes of the settings of one coding agent. Nothing is written before `setup.apply`. */
export interface AgentPlan {
  readonly agent: CodingAgent;
  readonly scope: SettingsScope;
  readonly setup: SetupPlan;
  readonly remarks: readonly string[];
}

/** The result of a plan as JSON output. */
export interface AgentResult {
  readonly name: string;
  readonly scope: SettingsScope;
  readonly files: readonly { path: string; action: string; diff: string; done: boolean }[];
  readonly remarks: readonly string[];
  readonly done: boolean;
}

/**
 * Plans to install the hooks of a coding agent, or with `uninstall` to remove them.
 * @param program the words that start this program; not used to uninstall
 * @param config `null` if the folder of undo receipts is unknown
 */
export async function planAgent(
  agent: CodingAgent,
  machine: Machine,
  options: SetupOptions,
  program: readonly string[],
  config: HookConfig | null,
): Promise<AgentPlan> {
  const { scope } = options;
  const target = findTarget(agent, machine, scope);
  const mode = options.uninstall ? 'uninstall' : 'install';
  const requests = buildFileRequests(agent, target, machine, options, program, config);
  const setup = await planSetup(mode, requests, config?.state_dir ?? null);
  const remarks = [
    ...(options.uninstall
      ? []
      : [...remarkOnSharing(agent, machine, options), ...agent.settings.remarks(scope)]),
    ...remarkOnServer(agent, machine, options, program, config),
    ...(await remarkOnOtherFiles(agent, target, machine, mode)),
  ];
  return { agent, scope, setup, remarks };
}

/** Returns the folders and variables of this machine that decide where settings are. */
export async function readMachine(
  { path }: Pick<SetupOptions, 'path'>,
  terminal: Terminal,
): Promise<Machine> {
  const { env } = terminal;
  return { project: await resolveFolder(path, terminal), home: env.HOME || homedir(), env };
}

function findTarget(agent: CodingAgent, machine: Machine, scope: SettingsScope): SettingsLocation {
  const target = agent.settings.targets(machine).find((each) => each.scope === scope);
  if (target === undefined) throw buildUnknownScopeFailure(agent, machine, scope);
  return target;
}

function buildUnknownScopeFailure(
  { label, settings }: CodingAgent,
  machine: Machine,
  scope: SettingsScope,
): CommandFailure {
  const scopes = settings.targets(machine).map((each) => each.scope);
  return new CommandFailure(EXIT.usage, 'unknown_scope', `${label} has no settings of scope \`${scope}\`.`, {
    hint: `Give --scope ${scopes.join(' or --scope ')}.`,
  });
}

/** Finds the configuration whose state folder has the undo receipts: the given one, that of the installed hook, or that of the folder. */
export async function findInstalledConfig(
  agent: CodingAgent,
  machine: Machine,
  { config, scope }: SetupOptions,
  { env, cwd }: Terminal,
): Promise<Config | null> {
  const target = findTarget(agent, machine, scope);
  const { loadConfig } = await import('../../../server/load-config.ts');
  const installed = await readInstalledHooks(agent.settings, target).catch(() => []);
  const installedPath = installed.flatMap(({ config_path }) => config_path ?? [])[0];
  const named =
    config ??
    (installedPath && replaceProjectFolder(installedPath, agent.settings.project_variables, machine.project));
  const result = await loadConfig({ path: named ?? null, env, cwd, secrets: 'leave' });
  return result.ok ? result.config : null;
}

function buildFileRequests(
  agent: CodingAgent,
  target: SettingsLocation,
  machine: Machine,
  { scope, mcp, shared, uninstall }: SetupOptions,
  program: readonly string[],
  config: HookConfig | null,
): readonly FileRequest[] {
  const file = config?.file ?? '';
  const { name, settings } = agent;
  const { needs_event, guards_exit, project_folder } = settings;
  const start =
    shared && !uninstall
      ? { program: [PACKAGE_NAME], config: resolvePathInProject(file, machine), project_folder }
      : { program, config: file };
  const hooks = planHooksPart(settings, (event) =>
    formatHookCommand({ ...start, dialect: name, event: needs_event ? event : null, guards_exit }),
  );
  const list = settings.mcp_servers.locations(machine).find((each) => each.scope === scope);
  const server = planServerPart(settings, buildServerWords(program, file));
  const wanted = mcp || uninstall;
  const earlier = findEarlierFile(target);
  const away = { install: hooks.uninstall, uninstall: hooks.uninstall };
  const replaced = earlier === null ? [] : [{ location: { ...target, path: earlier }, parts: [away] }];
  if (list === undefined || !wanted) return [{ location: target, parts: [hooks] }, ...replaced];
  if (list.path === target.path) return [{ location: target, parts: [hooks, server] }, ...replaced];
  return [{ location: target, parts: [hooks] }, { location: list, parts: [server] }, ...replaced];
}

/** Returns the path to the same settings under the earlier name; `null` if there are none. */
function findEarlierFile({ path }: SettingsLocation): string | null {
  const earlier = join(dirname(path), `${EARLIER_NAME}.json`);
  return basename(path) === `${PACKAGE_NAME}.json` && existsSync(earlier) ? earlier : null;
}

function buildServerWords(program: readonly string[], config: string): readonly string[] {
  return [...program, 'mcp', '--config', config];
}

function remarkOnServer(
  { settings }: CodingAgent,
  machine: Machine,
  options: SetupOptions,
  program: readonly string[],
  config: HookConfig | null,
): readonly string[] {
  const { locations, adviseByHand } = settings.mcp_servers;
  const hasList = locations(machine).some(({ scope }) => scope === options.scope);
  if (!options.mcp || options.uninstall || hasList) return [];
  const words = buildServerWords(program, config?.file ?? '');
  return [adviseByHand(options.scope, words.map(quoteArg).join(' '))];
}

function resolvePathInProject(file: string, { project }: Machine): string {
  const path = relative(realpathSync(project), existsSync(file) ? realpathSync(file) : resolve(file));
  if (!path.startsWith('..') && !isAbsolute(path)) return path;
  throw new CommandFailure(
    EXIT.usage,
    'usage',
    `The configuration \`${file}\` is outside of the project, so a shared hook cannot name it.`,
    { hint: 'Put a `service.yaml` into the project, or leave --shared out.' },
  );
}

/** Remarks that the settings of a project reach everyone who shares the repository, unlike the paths in them. */
function remarkOnSharing(
  { settings }: CodingAgent,
  machine: Machine,
  { scope, shared }: SetupOptions,
): readonly string[] {
  if (shared)
    return [
      `Commit this file and the configuration. Everyone who shares them needs \`${PACKAGE_NAME}\` in the PATH (npm install -g with the package’s file); without it every tool call is denied.`,
    ];
  const ownScope = settings.targets(machine).some((each) => each.scope === 'local') ? 'local' : 'user';
  if (scope !== 'project') return [];
  return [
    `This file belongs to the project but names paths of this machine: on machines without the program at these paths, every tool call is denied. Use --shared for a file that a team can commit, or for yourself alone --scope ${ownScope}.`,
  ];
}

/** Remarks on hooks of this program in other files: they decide a second time, and stay after an uninstall. */
async function remarkOnOtherFiles(
  agent: CodingAgent,
  target: SettingsLocation,
  machine: Machine,
  mode: SetupMode,
): Promise<readonly string[]> {
  const planned = [target.path, findEarlierFile(target)];
  const others = (await listSettingsFiles(agent.settings.locations(machine))).filter(
    ({ path }) => !planned.includes(path),
  );
  const found = await Promise.all(
    others.map(async (place) => {
      const hooks = await readInstalledHooks(agent.settings, place).catch(() => []);
      return hooks.some(({ is_ours }) => is_ours) ? [place] : [];
    }),
  );
  return found.flat().map(({ path, scope }) => {
    const where = `\`${path}\` (scope ${scope}) also has hooks of this program`;
    return mode === 'install'
      ? `${where}, so every call is decided twice.`
      : `${where}, which are still installed.`;
  });
}

/** Prints the changes of a plan as a diff. */
export function printPlan({ agent, scope, setup }: AgentPlan, terminal: Terminal): void {
  printLine(terminal, paintText(terminal, 'bold', `${agent.label}, scope ${scope}`));
  const pending = listPendingChanges(setup);
  for (const change of pending) {
    printLine(terminal);
    printDiff(change, terminal);
    if (change.real_path !== change.path)
      printLine(terminal, `(a symbolic link: \`${escapeControls(change.real_path)}\` is written)`);
  }
  if (pending.length > 0) printLine(terminal);
}

/** Returns the changes that have an effect. */
export function listPendingChanges({ changes }: SetupPlan): SetupPlan['changes'] {
  return changes.filter(({ action }) => action !== 'keep');
}

/**
 * Writes the changes of a plan and returns the paths of the files.
 * @param isQuiet whether nothing is printed, because the result is JSON
 */
export async function applyPlan(
  { setup }: AgentPlan,
  { uninstall }: SetupOptions,
  terminal: Terminal,
  isQuiet: boolean,
): Promise<readonly string[]> {
  const paths: string[] = [];
  await setup.apply(({ path, action, has_receipt }) => {
    paths.push(path);
    if (!isQuiet)
      printLine(terminal, `${PAST[action]}  ${escapeControls(relative(terminal.cwd, path) || path)}`);
    if (!has_receipt && !uninstall)
      printNotice(
        terminal,
        'The undo information was not saved; --uninstall will remove the entries one by one.',
      );
  });
  return paths;
}

const PAST = { create: 'created', change: 'changed', delete: 'deleted', keep: 'kept' } as const;

/** Returns the result of a plan. `writtenPaths` are the files that were written. */
export function buildAgentResult(
  { agent, scope, setup, remarks }: AgentPlan,
  writtenPaths: readonly string[],
  done: boolean,
): AgentResult {
  const files = setup.changes.map((change) => ({
    path: change.path,
    action: change.action,
    diff: change.action === 'keep' ? '' : formatDiff(change),
    done: writtenPaths.includes(change.path),
  }));
  return { name: agent.name, scope, files, remarks, done };
}
