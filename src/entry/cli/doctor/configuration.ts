import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StartFailure } from '../../../platform/failure.ts';
import { packageVersion } from '../../../platform/version.ts';
import type { Config } from '../../../runtime/config/index.ts';
import { loadConfig } from '../../../runtime/policies/load-config.ts';
import { type LocalRuntime, openLocalRuntime } from '../../../server/local.ts';
import { connectService } from '../../../server/socket-client.ts';
import type { Detail } from '../exit.ts';
import { type Check, fail, NOWHERE, ok, type Place, warn } from './check.ts';
import { DESTRUCTIVE, verdictOn } from './expect.ts';

/** Which configuration, as a hook or the command line names it. */
export interface ConfigAsked {
  /** `null`: the one that is found from `cwd`. */
  readonly path: string | null;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A configuration, opened as a hook opens it that decides by itself. */
export interface OpenConfig {
  readonly place: Place;
  /** `null`: it cannot be used, and a check says why. */
  readonly opened: { readonly config: Config; readonly runtime: LocalRuntime } | null;
  readonly checks: readonly Check[];
}

const PROBLEMS_SHOWN_MAX = 3;

/** Opens a configuration and its policy. What is wrong with them is a check, and never thrown. */
export async function openConfig({ path, cwd, env }: ConfigAsked): Promise<OpenConfig> {
  const read = await loadConfig({ path, cwd, env, secrets: 'decide' });
  const named: Place = { ...NOWHERE, file: path };
  if (!read.ok) return unusable(named, read.problems, stateBeside(path, cwd));
  const { config } = read;
  const place: Place = { ...NOWHERE, file: config.origin.file };
  try {
    const runtime = await openLocalRuntime(config, packageVersion());
    return { place, opened: { config, runtime }, checks: await policyChecks(runtime, place) };
  } catch (failure) {
    if (!(failure instanceof StartFailure)) throw failure;
    const { problems, message } = failure;
    return unusable(place, problems.length === 0 ? [{ path: '', message }] : problems, config.state_dir);
  }
}

/** The state folder of a configuration that cannot be read: the default one, next to it. */
function stateBeside(path: string | null, cwd: string): string {
  return join(path === null ? cwd : dirname(resolve(cwd, path)), '.service');
}

/** A daemon that was started before the mistake keeps the policy that it has. */
async function unusable(place: Place, problems: readonly Detail[], state_dir: string): Promise<OpenConfig> {
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX).map(lineOf).join('; ');
  const more =
    problems.length > PROBLEMS_SHOWN_MAX ? `; and ${problems.length - PROBLEMS_SHOWN_MAX} more` : '';
  const daemon = await connectService(state_dir).catch(() => null);
  daemon?.close();
  const effect =
    daemon === null
      ? 'every hook with it denies every call'
      : 'a running process still decides by the previous policy, and when it ends every hook denies every call';
  const check = fail(
    'config.valid',
    place,
    `The configuration is not valid, so ${effect}: ${shown}${more}.`,
    'Fix it, then run `service validate`.',
  );
  return { place, opened: null, checks: [check] };
}

function lineOf({ path, line, message }: Detail): string {
  const where = line === undefined ? path : `line ${line}`;
  return where === '' ? message : `${where}: ${message}`;
}

async function policyChecks(runtime: LocalRuntime, place: Place): Promise<readonly Check[]> {
  const policy = runtime.policy();
  const verdict = await verdictOn(policy, 'claude-code', { agent: null, tenant: null }, [DESTRUCTIVE]);
  const name = `The policy compiles (${policy.hash.slice(0, 'sha256:'.length + 12)})`;
  if (verdict?.decision === 'block') return [ok('config.valid', place, `${name}, and blocks \`rm -rf /\`.`)];
  return [
    ok('config.valid', place, `${name}.`),
    warn(
      'config.blocks',
      place,
      `This policy answers even \`rm -rf /\` in a shell with \`${verdict?.action}\` (rule ${verdict?.rule}).`,
      'If this is not intended, check rules in monitor mode and disabled detectors with `service policy lint`.',
    ),
  ];
}

/** A process that answers does so at once. */
const STATUS_MS = 5_000;
const CLOCK_SLACK_MS = 60_000;

/** What stands around a configuration once hooks have been tried: its folder, who has it, and what is written there. */
export async function stateChecks(
  { place, opened }: OpenConfig,
  sent: readonly string[],
  now_ms: number,
): Promise<readonly Check[]> {
  if (opened === null) return [];
  const { config, runtime } = opened;
  const folder = await folderCheck(config.state_dir, place);
  if (folder.status === 'fail') return [folder];
  const owner = await ownerCheck(config, runtime, place);
  // Nobody can read the trail past a process that does not answer.
  if (owner.status === 'fail') return [folder, owner];
  return [folder, owner, ...(await trailChecks(opened, place, sent, now_ms))];
}

async function folderCheck(state_dir: string, place: Place): Promise<Check> {
  const stats = await stat(state_dir).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown');
  const disk = await diskCheck(state_dir, place);
  if (disk?.status === 'fail') return disk;
  if (stats === 'ENOENT')
    return disk ?? ok('state.folder', place, `The state folder ${state_dir} is made by the first decision.`);
  if (typeof stats === 'string' || !stats.isDirectory())
    return fail(
      'state.folder',
      place,
      `The state folder ${state_dir} cannot be read${typeof stats === 'string' ? ` (${stats})` : ': it is a file'}.`,
      'Make this user its owner, or set `state_dir`.',
    );
  const is_writable = await access(state_dir, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!is_writable)
    return fail(
      'state.folder',
      place,
      `The state folder ${state_dir} is not writable, so hooks deny everything.`,
      'Make this user its owner, or set `state_dir`.',
    );
  if (disk !== null) return disk;
  const mode = stats.mode & 0o777;
  if ((mode & 0o077) === 0)
    return ok('state.folder', place, `The state folder ${state_dir} is for this user alone.`);
  return warn(
    'state.folder',
    place,
    `Other users can read the state folder ${state_dir} (mode ${mode.toString(8)}).`,
    `chmod 700 ${state_dir}`,
  );
}

const ROOM_BYTES_MIN = 65_536;
const ROOM_BYTES_WISHED = 67_108_864;

/** Whether there is room for decisions to be written; `null` where there is nothing to say. */
async function diskCheck(state_dir: string, place: Place): Promise<Check | null> {
  let folder = state_dir;
  for (;;) {
    const room = await statfs(folder).catch(() => null);
    if (room !== null) {
      const room_bytes = room.bavail * room.bsize;
      if (room_bytes >= ROOM_BYTES_WISHED) return null;
      return room_bytes < ROOM_BYTES_MIN
        ? fail(
            'state.disk',
            place,
            `The disk of the state folder ${state_dir} is full, so hooks deny everything.`,
            'Free some space; hooks then work again.',
          )
        : warn(
            'state.disk',
            place,
            `The disk of the state folder ${state_dir} has ${Math.floor(room_bytes / 1_048_576)} MB left.`,
            'Free some space: when the disk is full, nothing is allowed.',
          );
    }
    if (dirname(folder) === folder) return null;
    folder = dirname(folder);
  }
}

async function ownerCheck(config: Config, runtime: LocalRuntime, place: Place): Promise<Check> {
  const door = await connectService(config.state_dir);
  if (door === null)
    return ok(
      'state.owner',
      place,
      'No process uses the state folder: hooks decide on their own and start a daemon for the next call.',
    );
  try {
    const { pid, url, version, policy_hash } = await inTime(door.status());
    const who = `${url === null ? 'The daemon' : `The service at ${url}`} (process ${pid}, version ${version})`;
    if (policy_hash === runtime.policy().hash)
      return ok('state.owner', place, `${who} uses the current policy.`);
    return warn(
      'state.owner',
      place,
      `${who} uses another policy than the current configuration.`,
      'Run `service policy reload`; it reports what is wrong.',
    );
  } catch {
    return fail(
      'state.owner',
      place,
      'A process holds the state folder and does not answer, so hooks deny everything.',
      `End the process that ${config.state_dir}/owner.json names.`,
    );
  } finally {
    door.close();
  }
}

/** Rejects when there is no answer in time. */
async function inTime<Value>(answer: Promise<Value>): Promise<Value> {
  const late = AbortSignal.timeout(STATUS_MS);
  return Promise.race([answer, once(late, 'abort').then(() => Promise.reject(new Error('late')))]);
}

async function trailChecks(
  { config, runtime }: NonNullable<OpenConfig['opened']>,
  place: Place,
  sent: readonly string[],
  now_ms: number,
): Promise<readonly Check[]> {
  if (!config.audit.enabled)
    return [
      warn('state.trail', place, 'Decisions are not recorded: `audit.enabled` is false.', 'Set it to true.'),
    ];
  try {
    const { events } = await runtime.queryAudit({ metadata_key: 'probe', last: '1h', limit: 10_000 });
    const written = new Set(events.map(({ metadata }) => metadata.probe));
    const missing = sent.filter((session) => !written.has(session)).length;
    if (missing > 0)
      return [
        fail(
          'state.trail',
          place,
          `${missing} of the ${sent.length} tested hooks wrote nothing to this audit log.`,
          'These hooks use another configuration than they name, or belong to another program.',
        ),
      ];
    const [newest] = (await runtime.queryAudit({ limit: 1 })).events;
    if (newest !== undefined && Date.parse(newest.timestamp) > now_ms + CLOCK_SLACK_MS)
      return [
        warn(
          'state.clock',
          place,
          `The newest event is dated ${newest.timestamp}, which is in the future: the clock was set back.`,
          'Correct the clock. Until then, time windows of rules and budgets are wrong.',
        ),
      ];
    return sent.length === 0 ? [] : [ok('state.trail', place, 'The audit log has every tested hook.')];
  } catch (failure) {
    const { message } = failure as Error;
    return [
      fail(
        'state.trail',
        place,
        `The audit trail cannot be read: ${message}`,
        'Try again, then `service audit verify`.',
      ),
    ];
  }
}
