import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, relative, resolve } from 'node:path';
import {
  filesOf,
  type Host,
  hookCommand,
  hooksPart,
  installedIn,
  type Machine,
  type OpenSetup,
  openSetup,
  quoted,
  type Scope,
  type SettingsPlace,
  serverPart,
  type Wish,
  withProjectFolder,
} from '../../../coding-agents/hosts/index.ts';
import type { Config } from '../../../runtime/config/index.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import type { Consent } from '../skills/consent.ts';
import { paint, remark, say, shown, type Terminal } from '../terminal.ts';
import { tellDiff, unifiedDiff } from './diff-text.ts';
import { folderAt } from './folder.ts';

export interface HostOptions extends Consent {
  readonly scope: Scope;
  readonly path: string;
  readonly config?: string;
  readonly mcp?: true;
  /** Whether the hook names no path of this machine, so that a team can commit it. */
  readonly shared?: true;
  readonly uninstall?: true;
}

/** The configuration that hooks name, by its absolute path, and the folder that keeps what undoes a change. */
export interface HookConfiguration {
  readonly file: string;
  readonly state_dir: string;
}

/** What becomes of the settings of one coding agent. Nothing is written before `setup.carryOut`. */
export interface HostPlan {
  readonly host: Host;
  readonly scope: Scope;
  readonly setup: OpenSetup;
  readonly remarks: readonly string[];
}

/** What came of a plan, for a program. */
export interface HostResult {
  readonly name: string;
  readonly scope: Scope;
  readonly files: readonly { path: string; action: string; diff: string; done: boolean }[];
  readonly remarks: readonly string[];
  readonly done: boolean;
}

/**
 * Plans the hooks of a coding agent: into its settings, or with `uninstall` out of them again.
 * @param program the words that start this program; not used to uninstall
 * @param config `null` where nothing knows how to undo what was done
 */
export async function planHost(
  host: Host,
  machine: Machine,
  options: HostOptions,
  program: readonly string[],
  config: HookConfiguration | null,
): Promise<HostPlan> {
  const { scope } = options;
  const target = targetOf(host, machine, scope);
  const mode = options.uninstall ? 'leave' : 'enter';
  const wishes = wishesOf(host, target, machine, options, program, config);
  const setup = await openSetup(mode, wishes, config?.state_dir ?? null);
  const remarks = [
    ...(options.uninstall ? [] : [...sharedRemarks(host, machine, options), ...host.remarks(scope)]),
    ...serverRemarks(host, machine, options, program, config),
    ...(await elsewhere(host, target, machine, mode)),
  ];
  return { host, scope, setup, remarks };
}

/** The folders and variables of this machine that decide where settings are. */
export async function machineOf({ path }: Pick<HostOptions, 'path'>, terminal: Terminal): Promise<Machine> {
  const { env } = terminal;
  return { project: await folderAt(path, terminal), home: env.HOME || homedir(), env };
}

function targetOf(host: Host, machine: Machine, scope: Scope): SettingsPlace {
  const target = host.targets(machine).find((each) => each.scope === scope);
  if (target === undefined) throw noScope(host, machine, scope);
  return target;
}

function noScope({ label, targets }: Host, machine: Machine, scope: Scope): CommandFailure {
  const scopes = targets(machine).map((each) => each.scope);
  return new CommandFailure(EXIT.usage, 'unknown_scope', `${label} has no settings of scope \`${scope}\`.`, {
    hint: `Give --scope ${scopes.join(' or --scope ')}.`,
  });
}

/** The configuration that knows how to undo what was done: the one given, the one that the hook names, or the one here. */
export async function configurationToUndo(
  host: Host,
  machine: Machine,
  { config, scope }: HostOptions,
  { env, cwd }: Terminal,
): Promise<Config | null> {
  const target = targetOf(host, machine, scope);
  const { loadConfig } = await import('../../../runtime/policies/load-config.ts');
  const installed = await installedIn(host, target).catch(() => []);
  const written = installed.flatMap(({ config_path }) => config_path ?? [])[0];
  const named = config ?? (written && withProjectFolder(written, machine.project));
  const result = await loadConfig({ path: named ?? null, env, cwd, secrets: 'leave' });
  return result.ok ? result.config : null;
}

function wishesOf(
  host: Host,
  target: SettingsPlace,
  machine: Machine,
  { scope, mcp, shared, uninstall }: HostOptions,
  program: readonly string[],
  config: HookConfiguration | null,
): readonly Wish[] {
  const file = config?.file ?? '';
  const { name, needs_event, guards_exit } = host;
  const start =
    shared && !uninstall
      ? { program: [PROGRAM], config: pathInProject(file, machine), below: host.project_folder }
      : { program, config: file };
  const hooks = hooksPart(host, (event) =>
    hookCommand({ ...start, dialect: name, event: needs_event ? event : null, guards_exit }),
  );
  const list = host.mcp.places(machine).find((place) => place.scope === scope);
  const server = serverPart(host, serverWords(program, file));
  const wanted = mcp || uninstall;
  if (list === undefined || !wanted) return [{ place: target, parts: [hooks] }];
  if (list.path === target.path) return [{ place: target, parts: [hooks, server] }];
  return [
    { place: target, parts: [hooks] },
    { place: list, parts: [server] },
  ];
}

function serverWords(program: readonly string[], config: string): readonly string[] {
  return [...program, 'mcp', '--config', config];
}

function serverRemarks(
  { mcp }: Host,
  machine: Machine,
  options: HostOptions,
  program: readonly string[],
  config: HookConfiguration | null,
): readonly string[] {
  const has_list = mcp.places(machine).some(({ scope }) => scope === options.scope);
  if (!options.mcp || options.uninstall || has_list) return [];
  const words = serverWords(program, config?.file ?? '');
  return [mcp.otherwise(options.scope, words.map(quoted).join(' '))];
}

/** The name of the program where it is found in the PATH. */
const PROGRAM = 'agent-safety';

function pathInProject(file: string, { project }: Machine): string {
  const path = relative(realpathSync(project), existsSync(file) ? realpathSync(file) : resolve(file));
  if (!path.startsWith('..') && !isAbsolute(path)) return path;
  throw new CommandFailure(
    EXIT.usage,
    'usage',
    `The configuration \`${file}\` is outside of the project, so a shared hook cannot name it.`,
    { hint: 'Put a `service.yaml` into the project, or leave --shared out.' },
  );
}

/** A project's file goes to whoever shares the repository, and the paths in it do not. */
function sharedRemarks(
  { targets }: Host,
  machine: Machine,
  { scope, shared }: HostOptions,
): readonly string[] {
  if (shared)
    return [
      `Commit this file and the configuration. Every user of them needs \`${PROGRAM}\` in the PATH (npm install -g ${PROGRAM}); without it, every tool call is denied.`,
    ];
  const alone = targets(machine).some((each) => each.scope === 'local') ? 'local' : 'user';
  if (scope !== 'project') return [];
  return [
    `This file belongs to the project and contains paths of this machine. Users who share it without this program at that path have every tool call denied. For a file that a team can commit, use --shared; for yourself only, use --scope ${alone}.`,
  ];
}

/** Hooks of this program in other files: at best a call is asked about twice, and after an uninstall still. */
async function elsewhere(
  host: Host,
  target: SettingsPlace,
  machine: Machine,
  mode: 'enter' | 'leave',
): Promise<readonly string[]> {
  const others = (await filesOf(host.places(machine))).filter(({ path }) => path !== target.path);
  const found = await Promise.all(
    others.map(async (place) => {
      const hooks = await installedIn(host, place).catch(() => []);
      return hooks.some(({ is_ours }) => is_ours) ? [place] : [];
    }),
  );
  return found.flat().map(({ path, scope }) => {
    const where = `\`${path}\` (scope ${scope}) has hooks of this program too`;
    return mode === 'enter'
      ? `${where}, so each call is checked twice.`
      : `${where}, and they are still there.`;
  });
}

/** Shows what would change in the settings of one agent. */
export function tellPlan({ host, scope, setup }: HostPlan, terminal: Terminal): void {
  say(terminal, paint(terminal, 'bold', `${host.label}, scope ${scope}`));
  const pending = pendingOf(setup);
  for (const change of pending) {
    say(terminal);
    tellDiff(change, terminal);
    if (change.real_path !== change.path)
      say(terminal, `(a link: \`${shown(change.real_path)}\` is written)`);
  }
  if (pending.length > 0) say(terminal);
}

/** The changes that are none yet. */
export function pendingOf({ changes }: OpenSetup): OpenSetup['changes'] {
  return changes.filter(({ action }) => action !== 'keep');
}

/**
 * Makes the changes of a plan.
 * @param is_quiet whether nothing is printed, because the result is JSON
 */
export async function carryOutPlan(
  { setup }: HostPlan,
  { uninstall }: HostOptions,
  terminal: Terminal,
  is_quiet: boolean,
): Promise<readonly string[]> {
  const made: string[] = [];
  await setup.carryOut(({ path, action, has_receipt }) => {
    made.push(path);
    if (!is_quiet) say(terminal, `${PAST[action]}  ${shown(relative(terminal.cwd, path) || path)}`);
    if (!has_receipt && !uninstall)
      remark(terminal, 'The undo information was not saved; --uninstall will remove the entries one by one.');
  });
  return made;
}

const PAST = { create: 'created', change: 'changed', delete: 'deleted', keep: 'kept' } as const;

/** The result of a plan whose files `made` were written. */
export function resultOf(
  { host, scope, setup, remarks }: HostPlan,
  made: readonly string[],
  done: boolean,
): HostResult {
  const files = setup.changes.map((change) => ({
    path: change.path,
    action: change.action,
    diff: change.action === 'keep' ? '' : unifiedDiff(change),
    done: made.includes(change.path),
  }));
  return { name: host.name, scope, files, remarks, done };
}
