import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Host } from '../../../coding-agents/hosts/index.ts';
import { type Check, fail, type Place, warn } from './check.ts';
import type { HostSide, InstalledHook } from './hosts/host.ts';
import { type Told, toldBy } from './told.ts';

/** What the hook allows itself where its command does not say. */
const OWN_TIMEOUT_MS = 8_000;
/** What a process may need beside that, to start and to end. */
const SLACK_MS = 2_000;

/** Where a hook is run, and with what. */
export interface Around {
  readonly cwd: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Looks at how one hook is entered, without running it. What is as it should be is not spoken of. */
export async function checkEntry(
  host: Host,
  side: HostSide,
  hook: InstalledHook,
  place: Place,
  around: Around,
): Promise<readonly Check[]> {
  const told = toldBy(hook, around.project);
  return [
    ...(await checkProgram(told, place, around)),
    ...(await checkOptions(told, host, place, around)),
    ...checkTimeout(told, side, hook, place),
    ...checkMatcher(hook, side, place),
    ...checkMode(hook, host, place),
  ];
}

const AGAIN = 'Run `service setup` for this host again, which replaces the entry.';

async function checkProgram(told: Told, place: Place, around: Around): Promise<readonly Check[]> {
  if (told.is_open) return [];
  const [file, ...scripts] = told.program;
  if (file === undefined) return [];
  const found = await pathOf(file, around);
  if (found === null && !file.includes('/'))
    return [
      fail(
        'hook.program',
        place,
        `The program \`${file}\` of the hook is not in the PATH.`,
        `Install it with \`npm install -g agent-safety\`, or run \`service setup\` for this coding agent again to use its absolute path.`,
      ),
    ];
  if (found === null)
    return [fail('hook.program', place, `The program \`${file}\` of the hook is not there.`, AGAIN)];
  if (!(await isReachable(found, constants.X_OK)))
    return [
      fail('hook.program', place, `The program \`${file}\` of the hook may not be run.`, `chmod +x ${file}`),
    ];
  const missing = await firstMissing(scripts.filter(isAbsolute));
  if (missing !== null)
    return [fail('hook.program', place, `The file \`${missing}\` of the hook is not there.`, AGAIN)];
  if (file.includes('/') && !isAbsolute(file)) return [moved('hook.program', place, file)];
  return [];
}

/** Hosts run hooks in the folder that their agent is in, which it may have changed. */
function moved(name: string, place: Place, path: string): Check {
  return warn(
    name,
    place,
    `\`${path}\` is found from the folder that the hook is run in, and an agent may change that.`,
    'Use its absolute path, as `service setup` does.',
  );
}

/** Where a program is; `null`: nowhere. */
async function pathOf(file: string, { cwd, env }: Around): Promise<string | null> {
  const paths = file.includes('/')
    ? [resolve(cwd, file)]
    : (env.PATH ?? '').split(delimiter).map((folder) => join(folder, file));
  for (const path of paths) {
    const stats = await stat(path).catch(() => null);
    if (stats?.isFile()) return path;
  }
  return null;
}

async function firstMissing(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) if (!(await isReachable(path, constants.R_OK))) return path;
  return null;
}

function isReachable(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

async function checkOptions(
  told: Told,
  host: Host,
  place: Place,
  { cwd }: Around,
): Promise<readonly Check[]> {
  const { options, complaint, is_open } = told;
  if (options === null)
    return [fail('hook.options', place, `The hook refuses its own options: ${complaint}`, AGAIN)];
  const checks: Check[] = [];
  if (options.dialect !== null && options.dialect !== host.name)
    checks.push(
      fail(
        'hook.dialect',
        place,
        `The hook answers in the dialect ${options.dialect}, but ${host.label} calls it.`,
        AGAIN,
      ),
    );
  if (options.config === null)
    checks.push(
      warn(
        'hook.config',
        place,
        'The hook has no --config, so it uses the configuration of its working directory.',
        'Pass the absolute path with --config, as `service setup` does.',
      ),
    );
  else if (!is_open && !(await isReachable(resolve(cwd, options.config), constants.R_OK)))
    checks.push(
      fail(
        'hook.config',
        place,
        `The configuration \`${options.config}\` of the hook is missing or cannot be read.`,
        'Restore it, or run `service setup` again with another one.',
      ),
    );
  else if (!is_open && !isAbsolute(options.config)) checks.push(moved('hook.config', place, options.config));
  return checks;
}

function checkTimeout(
  { options }: Told,
  side: HostSide,
  { event, timeout_ms }: InstalledHook,
  place: Place,
): readonly Check[] {
  const own_ms = options?.timeout_ms ?? OWN_TIMEOUT_MS;
  const host_ms = timeout_ms ?? side.timeoutOf(event);
  const message = `The host waits ${host_ms} ms, and the hook itself says no after ${own_ms} ms.`;
  if (host_ms <= own_ms)
    return [
      fail(
        'hook.timeout',
        place,
        `${message} The host would go on first.`,
        `Raise the coding agent’s time-out to 30 seconds (${side.name === 'gemini' ? '30000, it counts milliseconds' : '30'}), or lower the hook's with --timeout-ms.`,
      ),
    ];
  if (host_ms < own_ms + SLACK_MS)
    return [warn('hook.timeout', place, `${message} That is little to start in.`, "Raise the host's time.")];
  return [];
}

/** What hosts take for every tool. */
const ALL = [null, '', '*', '**', '.*'];

function checkMatcher({ matcher, event }: InstalledHook, side: HostSide, place: Place): readonly Check[] {
  // An expression that cannot be read has Copilot pass over the whole entry.
  if (side.name === 'copilot' && /^[a-z]/.test(event) && (matcher === '*' || matcher === '**'))
    return [
      fail(
        'hook.matcher',
        place,
        `The coding agent cannot parse the matcher \`${matcher}\` and skips the hook.`,
        'Remove the matcher.',
      ),
    ];
  if (ALL.includes(matcher)) return [];
  return [
    warn(
      'hook.matcher',
      place,
      `The hook is called only for tools that match \`${matcher}\`.`,
      'Install the hook for all tools, or cover the other tools with further entries.',
    ),
  ];
}

function checkMode(hook: InstalledHook, host: Host, place: Place): readonly Check[] {
  const checks: Check[] = [];
  if (hook.in_background)
    checks.push(
      fail(
        'hook.waits',
        place,
        'The coding agent runs the hook in the background and does not wait for it.',
        'Remove `async`.',
      ),
    );
  if (host.name === 'cursor' && !hook.fails_closed)
    checks.push(
      fail(
        'hook.fail_closed',
        place,
        'Cursor allows the call on every fault of the hook, because `failClosed` is not set.',
        'Set `"failClosed": true`, as `service setup cursor` does.',
      ),
    );
  return checks;
}
