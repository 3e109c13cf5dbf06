import { dirname } from 'node:path';
import type { Machine } from '../../../coding-agents/hosts/index.ts';
import { type Check, fail, type Place, warn } from './check.ts';
import { type FoundFile, type FoundHost, memberAt } from './found.ts';
import type { InstalledHook } from './hosts/host.ts';

/** What is switched off beside the hooks of a host. */
export interface Switches {
  readonly checks: readonly Check[];
  /** Hooks that the host would not ask. */
  readonly off: ReadonlySet<InstalledHook>;
}

/**
 * What switches hooks of a host off as a whole or one by one: settings beside them, and trust that nobody has given.
 * @param all - all settings of the host, whatever scope is asked about
 */
export function checkSwitches(found: FoundHost, all: FoundHost, machine: Machine): Switches {
  const hooks = found.files.flatMap((file) => file.hooks.map((hook) => ({ file, hook })));
  if (hooks.length === 0) return { checks: [], off: new Set() };
  const whole = WHOLE[found.host.name]?.(all) ?? [];
  const single = SINGLE[found.host.name]?.(hooks, all) ?? { checks: [], off: new Set<InstalledHook>() };
  const unmanaged = hooks.filter(({ file }) => file.place.scope !== 'managed').map(({ hook }) => hook);
  const warnings = found.host.name === 'codex' ? untrustedProject(hooks, all, machine) : [];
  return {
    checks: [...whole, ...single.checks, ...warnings],
    off: whole.length > 0 ? new Set(unmanaged) : single.off,
  };
}

type Entered = { readonly file: FoundFile; readonly hook: InstalledHook };

function placeOf({ host }: FoundHost, { place }: FoundFile, event: string | null = null): Place {
  return { host: host.name, scope: place.scope, file: place.path, event };
}

function disabled(all: FoundHost): readonly Check[] {
  return all.files.flatMap((file) => {
    const members = memberAt(file.document, []);
    const checks: Check[] = [];
    if (members.disableAllHooks === true && file.place.scope !== 'managed')
      checks.push(
        fail('host.hooks_on', placeOf(all, file), '`disableAllHooks` switches all hooks off.', 'Remove it.'),
      );
    if (members.allowManagedHooksOnly === true)
      checks.push(
        fail(
          'host.hooks_on',
          placeOf(all, file),
          '`allowManagedHooksOnly` has the host skip all hooks but those of an administrator.',
          'Ask the administrator to install the hook in the managed settings.',
        ),
      );
    return checks;
  });
}

function geminiOff(all: FoundHost): readonly Check[] {
  return all.files
    .filter(
      ({ document }) =>
        memberAt(document, ['hooksConfig']).enabled === false ||
        memberAt(document, ['tools']).enableHooks === false,
    )
    .map((file) =>
      fail('host.hooks_on', placeOf(all, file), 'Hooks are disabled.', 'Set `hooksConfig.enabled` to true.'),
    );
}

/** Single hooks are switched off by their name, or by their command where they have none. */
function geminiLeftOut(hooks: readonly Entered[], all: FoundHost): Switches {
  const names = all.files.flatMap(({ document }) => {
    const { disabled: list } = memberAt(document, ['hooksConfig']);
    return Array.isArray(list) ? (list as unknown[]) : [];
  });
  const left_out = hooks.filter(({ file, hook }) =>
    [memberAt(file.document, hook.path).name, hook.command].some((each) => names.includes(each)),
  );
  const checks = left_out.map(({ file, hook }) =>
    fail(
      'host.hooks_on',
      placeOf(all, file, hook.event),
      '`hooksConfig.disabled` disables the hook.',
      'Remove it from that list, or use /hooks enable.',
    ),
  );
  return { checks, off: new Set(left_out.map(({ hook }) => hook)) };
}

function codexOff(all: FoundHost): readonly Check[] {
  return all.files
    .filter(({ document }) => {
      const { hooks, codex_hooks } = memberAt(document, ['features']);
      return hooks === false || codex_hooks === false;
    })
    .map((file) =>
      fail(
        'host.hooks_on',
        placeOf(all, file),
        '`features.hooks` is false.',
        'Remove it, or set it to true.',
      ),
    );
}

/**
 * Codex keeps in its user's file which hooks are trusted, by their place, and skips all others without a word. Whether the
 * trust is for what stands there now, only Codex knows.
 */
function codexUntrusted(hooks: readonly Entered[], all: FoundHost): Switches {
  const users = usersOf(all);
  const checks: Check[] = [];
  const off = new Set<InstalledHook>();
  for (const file of new Set(hooks.map((each) => each.file))) {
    if (file.place.scope === 'managed') continue;
    const states = (hook: InstalledHook) =>
      users.flatMap(({ document }) =>
        stateKeys(file, hook).map((key) => memberAt(document, ['hooks', 'state', key])),
      );
    const disabled_ones = file.hooks.filter((hook) => states(hook).some(({ enabled }) => enabled === false));
    const untrusted = file.hooks.filter(
      (hook) => !states(hook).some(({ trusted_hash }) => typeof trusted_hash === 'string'),
    );
    for (const hook of [...disabled_ones, ...untrusted]) off.add(hook);
    const place = placeOf(all, file);
    if (disabled_ones.length > 0)
      checks.push(
        fail(
          'host.hooks_on',
          place,
          `Codex has disabled these hooks: ${eventsOf(disabled_ones)}.`,
          'Enable them in /hooks.',
        ),
      );
    if (untrusted.length > 0)
      checks.push(
        fail(
          'host.trusted',
          place,
          `Codex silently skips hooks that are not trusted: ${eventsOf(untrusted)}.`,
          'Open Codex, type /hooks and trust them. Each change of an entry revokes the trust.',
        ),
      );
  }
  return { checks, off };
}

function eventsOf(hooks: readonly InstalledHook[]): string {
  return [...new Set(hooks.map(({ event }) => event))].join(', ');
}

/** Where Codex keeps what it knows of a hook, `<file>:<event>:<group>:<position>`; with or without links. */
function stateKeys({ place, real_path }: FoundFile, { event, path }: InstalledHook): readonly string[] {
  const [, , group, , at] = path;
  const snake = event.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  return [place.path, real_path].map((file) => `${file}:${snake}:${group}:${at}`);
}

function usersOf({ files }: FoundHost): readonly FoundFile[] {
  return files.filter(({ place }) => place.scope === 'user' && place.format === 'toml');
}

function untrustedProject(hooks: readonly Entered[], all: FoundHost, { project }: Machine): readonly Check[] {
  const in_project = hooks.find(({ file }) => file.place.scope === 'project');
  if (in_project === undefined || isTrustedProject(project, usersOf(all))) return [];
  return [
    warn(
      'host.trusted',
      placeOf(all, in_project.file),
      'Codex reads hooks only in trusted projects, and this project is not in its list.',
      'Open Codex in the project and trust it, or use `service setup codex --scope user`.',
    ),
  ];
}

function isTrustedProject(project: string, users: readonly FoundFile[]): boolean {
  for (let folder = project; ; folder = dirname(folder)) {
    const is_trusted = users.some(
      ({ document }) => memberAt(document, ['projects', folder]).trust_level === 'trusted',
    );
    if (is_trusted) return true;
    if (folder === dirname(folder)) return false;
  }
}

const WHOLE: Readonly<Record<string, (all: FoundHost) => readonly Check[]>> = {
  'claude-code': disabled,
  codex: codexOff,
  copilot: disabled,
  gemini: geminiOff,
};

const SINGLE: Readonly<Record<string, (hooks: readonly Entered[], all: FoundHost) => Switches>> = {
  codex: codexUntrusted,
  gemini: geminiLeftOut,
};
