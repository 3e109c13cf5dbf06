import { homedir } from 'node:os';
import { relative } from 'node:path';
import type { Config } from '../../../runtime/config/index.ts';
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
} from '../../../runtime/hosts/index.ts';
import { configOf } from '../configuration.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { agreed, type Consent } from '../skills/consent.ts';
import { paint, remark, say, sayJson, shown, type Terminal } from '../terminal.ts';
import { tellDiff, unifiedDiff } from './diff-text.ts';
import { folderAt } from './folder.ts';
import { programWords } from './program-words.ts';

export interface HostOptions extends Consent {
  readonly scope: Scope;
  readonly path: string;
  readonly config?: string;
  readonly mcp?: true;
  readonly uninstall?: true;
}

/** Enters the hooks of a coding agent into its settings, or takes them out again. */
export async function setUpHost(host: Host, options: HostOptions, terminal: Terminal): Promise<void> {
  const machine = await machineOf(options, terminal);
  const target = host.targets(machine).find(({ scope }) => scope === options.scope);
  if (target === undefined) throw noScope(host, machine, options.scope);
  const mode = options.uninstall ? 'leave' : 'enter';
  const config = options.uninstall
    ? await configThere(host, target, options, terminal)
    : await configToUse(options, terminal);
  const setup = await openSetup(
    mode,
    wishesOf(host, target, machine, options, config),
    config?.state_dir ?? null,
  );
  const remarks = [
    ...(options.uninstall
      ? []
      : [...sharedRemarks(host, machine, options.scope), ...host.remarks(options.scope)]),
    ...serverRemarks(host, machine, options, config),
    ...(await elsewhere(host, target, machine, mode)),
  ];
  await carryOut(host, setup, remarks, options, terminal);
}

async function machineOf({ path }: HostOptions, terminal: Terminal): Promise<Machine> {
  const { env } = terminal;
  return { project: await folderAt(path, terminal), home: env.HOME || homedir(), env };
}

function noScope({ label, targets }: Host, machine: Machine, scope: Scope): CommandFailure {
  const scopes = targets(machine).map((each) => each.scope);
  return new CommandFailure(EXIT.usage, 'no_such_scope', `${label} has no settings of scope \`${scope}\`.`, {
    hint: `Give --scope ${scopes.join(' or --scope ')}.`,
  });
}

/** A hook without a policy that holds would refuse everything, and one without a path would take an agent's own. */
async function configToUse(options: HostOptions, terminal: Terminal): Promise<Config> {
  const config = await configOf(terminal, options.config, 'leave');
  if (config.origin.file === null)
    throw new CommandFailure(EXIT.usage, 'no_configuration', 'There is no configuration here.', {
      hint: 'Write one with `service init`, or name one with --config. One outside of the project is out of the agent’s reach.',
    });
  const { validate } = await import('../../../runtime/policies/index.ts');
  const { problemLine } = await import('../../../runtime/config/index.ts');
  const { env, cwd } = terminal;
  const { problems } = await validate({ path: config.origin.file, env, cwd, secrets: 'leave' });
  if (problems.length === 0) return config;
  throw new CommandFailure(
    EXIT.usage,
    'invalid_configuration',
    'A hook would refuse everything, for the configuration is not valid:',
    {
      details: problems,
      lines: problems.map(problemLine),
      hint: 'Mend it, then look again with `service validate`.',
    },
  );
}

/** The configuration that knows how to undo what was done: the one given, the one that the hook names, or the one here. */
async function configThere(
  host: Host,
  target: SettingsPlace,
  { config }: HostOptions,
  { env, cwd }: Terminal,
): Promise<Config | null> {
  const { loadConfig } = await import('../../../runtime/config/index.ts');
  const named =
    config ??
    (await installedIn(host, target).catch(() => [])).flatMap(({ config_path }) => config_path ?? [])[0];
  const result = await loadConfig({ path: named ?? null, env, cwd, secrets: 'leave' });
  return result.ok ? result.config : null;
}

function wishesOf(
  host: Host,
  target: SettingsPlace,
  machine: Machine,
  { scope, mcp, uninstall }: HostOptions,
  config: Config | null,
): readonly Wish[] {
  const program = uninstall ? [] : programWords();
  const file = config?.origin.file ?? '';
  const { name, needs_event, guards_exit } = host;
  const hooks = hooksPart(host, (event) =>
    hookCommand({ program, config: file, dialect: name, event: needs_event ? event : null, guards_exit }),
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
  config: Config | null,
): readonly string[] {
  const has_list = mcp.places(machine).some(({ scope }) => scope === options.scope);
  if (!options.mcp || options.uninstall || has_list) return [];
  const words = serverWords(programWords(), config?.origin.file ?? '');
  return [mcp.otherwise(options.scope, words.map(quoted).join(' '))];
}

/** A project's file goes to whoever shares the repository, and the paths in it do not. */
function sharedRemarks({ targets }: Host, machine: Machine, scope: Scope): readonly string[] {
  const alone = targets(machine).some((each) => each.scope === 'local') ? 'local' : 'user';
  if (scope !== 'project') return [];
  return [
    `This file is the project’s, and names paths of this machine: for whoever shares it and has no program there, every tool is refused. For yourself alone use --scope ${alone}.`,
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
      ? `${where}, so that calls are asked about twice.`
      : `${where}, and they are still there.`;
  });
}

async function carryOut(
  host: Host,
  { changes, carryOut }: OpenSetup,
  remarks: readonly string[],
  options: HostOptions,
  terminal: Terminal,
): Promise<void> {
  const pending = changes.filter(({ action }) => action !== 'keep');
  if (!options.json) {
    say(terminal, paint(terminal, 'bold', `${host.label}, scope ${options.scope}`));
    for (const change of pending) {
      say(terminal);
      tellDiff(change, terminal);
      if (change.real_path !== change.path)
        say(terminal, `(a link: \`${shown(change.real_path)}\` is written)`);
    }
    if (pending.length > 0) say(terminal);
  }
  const goes_on = pending.length > 0 && (await agreed('Write this?', options, terminal));
  const made: string[] = [];
  if (goes_on)
    await carryOut(({ path, action, has_receipt }) => {
      made.push(path);
      if (!options.json) say(terminal, `${PAST[action]}  ${shown(relative(terminal.cwd, path) || path)}`);
      if (!has_receipt && !options.uninstall)
        remark(
          terminal,
          'How to undo it could not be kept; --uninstall will take out the entries one by one.',
        );
    });
  if (options.json) {
    const files = changes.map((change) => ({
      path: change.path,
      action: change.action,
      diff: change.action === 'keep' ? '' : unifiedDiff(change),
      done: made.includes(change.path),
    }));
    sayJson(terminal, { name: host.name, scope: options.scope, files, remarks, done: goes_on });
    return;
  }
  tellEnd(pending.length, goes_on, options, terminal);
  if (goes_on || pending.length === 0) for (const line of remarks) say(terminal, `note: ${shown(line)}`);
  if (goes_on && !options.uninstall)
    say(terminal, `\nSee whether it blocks:\n  ${terminal.name} doctor --host ${host.name}`);
}

const PAST = { create: 'created', change: 'changed', delete: 'deleted', keep: 'kept' } as const;

function tellEnd(pending: number, done: boolean, { uninstall }: HostOptions, terminal: Terminal): void {
  if (pending === 0) say(terminal, uninstall ? 'Nothing of this program is there.' : 'Nothing to change.');
  else if (!done) say(terminal, 'Nothing was changed.');
}
