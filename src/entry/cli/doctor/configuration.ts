import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  buildFailedCheck,
  buildPassedCheck,
  buildWarningCheck,
  type CheckSubject,
  type DoctorCheck,
  NO_SUBJECT,
} from '../../../coding-agents/record/doctor-check.ts';
import type { ProblemDetail } from '../../../operations/cli-kit/command-failure.ts';
import type { LocalRuntime } from '../../../operations/runtime.ts';
import { StartFailure } from '../../../platform/failure.ts';
import { getPackageVersion } from '../../../platform/version.ts';
import type { Config } from '../../../runtime/config/index.ts';
import { loadConfig } from '../../../server/load-config.ts';
import { openLocalRuntime } from '../../../server/local.ts';
import { connectService } from '../../../server/socket-client.ts';
import { SocketFailure } from '../../../server/socket-failure.ts';
import { listForeignEntries } from '../../../server/state-entries.ts';
import { DESTRUCTIVE_CALL, evaluateChecks } from './evaluate-checks.ts';

/** A configuration as a hook or the command line names it. */
export interface ConfigLocation {
  /** `null` for the one that is found from `cwd`. */
  readonly path: string | null;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A configuration, opened as a hook without a daemon opens it. */
export interface OpenConfig {
  readonly subject: CheckSubject;
  /** `null` if the configuration is invalid. A check says why. */
  readonly opened: { readonly config: Config; readonly runtime: LocalRuntime } | null;
  readonly checks: readonly DoctorCheck[];
}

const PROBLEMS_SHOWN_MAX = 3;

/** Opens a configuration and its policy. Mistakes in them become checks and are never thrown. */
export async function openConfig({ path, cwd, env }: ConfigLocation): Promise<OpenConfig> {
  const read = await loadConfig({ path, cwd, env, secrets: 'decide' });
  const named: CheckSubject = { ...NO_SUBJECT, file: path };
  if (!read.ok) return reportInvalid(named, read.problems, getDefaultStateFolder(path, cwd));
  const { config } = read;
  const subject: CheckSubject = { ...NO_SUBJECT, file: config.origin.file };
  try {
    const runtime = await openLocalRuntime(config, getPackageVersion());
    return { subject, opened: { config, runtime }, checks: await checkPolicy(runtime, subject) };
  } catch (failure) {
    if (!(failure instanceof StartFailure)) throw failure;
    const { problems, message } = failure;
    return reportInvalid(
      subject,
      problems.length === 0 ? [{ path: '', message }] : problems,
      config.state_dir,
    );
  }
}

/** The state folder of a configuration that cannot be read: the default one, next to it. */
function getDefaultStateFolder(path: string | null, cwd: string): string {
  return join(path === null ? cwd : dirname(resolve(cwd, path)), '.service');
}

/** A daemon that was started before the mistake keeps the policy that it has. */
async function reportInvalid(
  subject: CheckSubject,
  problems: readonly ProblemDetail[],
  stateDir: string,
): Promise<OpenConfig> {
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX).map(formatProblem).join('; ');
  const more =
    problems.length > PROBLEMS_SHOWN_MAX ? `; and ${problems.length - PROBLEMS_SHOWN_MAX} more` : '';
  const daemon = await connectService(stateDir).catch(() => null);
  daemon?.close();
  const effect =
    daemon === null
      ? 'every hook with it denies every call'
      : 'a running process still decides by the previous policy, and when it ends every hook denies every call';
  const check = buildFailedCheck(
    'config.valid',
    subject,
    `The configuration is not valid, so ${effect}: ${shown}${more}.`,
    'Fix it, then run `customshouse validate`.',
  );
  return { subject, opened: null, checks: [check] };
}

function formatProblem({ path, line, message }: ProblemDetail): string {
  const where = line === undefined ? path : `line ${line}`;
  return where === '' ? message : `${where}: ${message}`;
}

async function checkPolicy(runtime: LocalRuntime, subject: CheckSubject): Promise<readonly DoctorCheck[]> {
  const policy = runtime.policy();
  const verdict = await evaluateChecks(policy, 'claude-code', { agent: null, tenant: null }, [
    DESTRUCTIVE_CALL,
  ]);
  const name = `The policy compiles (${policy.hash.slice(0, 'sha256:'.length + 12)})`;
  if (verdict?.decision === 'block')
    return [buildPassedCheck('config.valid', subject, `${name}, and blocks \`rm -rf /\`.`)];
  return [
    buildPassedCheck('config.valid', subject, `${name}.`),
    buildWarningCheck(
      'config.blocks',
      subject,
      `This policy answers \`rm -rf /\` in a shell with \`${verdict?.action}\` (rule ${verdict?.rule}).`,
      'If that is not intended, check for rules in monitor mode and disabled detectors with `customshouse policy lint`.',
    ),
  ];
}

/** The rule by which the policy pack `information-flow` is known in a policy. */
const FLOW_RULE = 'flow-ask-before-undeclared-tools-write';

/** Checks that the origin of values is judged if agents use MCP servers. */
export function checkMcpServers(
  { subject, opened }: OpenConfig,
  mcpServers: readonly string[],
): readonly DoctorCheck[] {
  if (opened === null || mcpServers.length === 0) return [];
  const isOn = opened.runtime.policy().rules.some(({ name }) => name === FLOW_RULE);
  if (isOn)
    return [buildPassedCheck('config.mcp_servers', subject, 'The policy pack information-flow is on.')];
  return [
    buildWarningCheck(
      'config.mcp_servers',
      subject,
      `Agents use MCP servers (${mcpServers.join(', ')}), and the policy pack information-flow is off: a mail or page may choose what their tools write.`,
      'Add it with `customshouse skills add information-flow`.',
    ),
  ];
}

/** Time limit in milliseconds for an answer of the daemon that owns the state folder. */
const STATUS_MS = 5_000;
const CLOCK_SLACK_MS = 60_000;

/** Checks the state folder of a configuration, its owner, and the events of the tested hooks. */
export async function checkState(
  { subject, opened }: OpenConfig,
  probeSessions: readonly string[],
  nowMs: number,
): Promise<readonly DoctorCheck[]> {
  if (opened === null) return [];
  const { config, runtime } = opened;
  const folder = await checkFolder(config.state_dir, subject);
  if (folder.status === 'fail') return [folder];
  const owner = await checkOwner(config, runtime, subject);
  // The audit log cannot be read while its owner does not answer.
  if (owner.status === 'fail') return [folder, owner];
  const entries = checkEntries(config.state_dir, subject);
  return [folder, ...entries, owner, ...(await checkAuditLog(opened, subject, probeSessions, nowMs))];
}

/** Checks that the service made everything in the state folder. */
function checkEntries(stateDir: string, subject: CheckSubject): readonly DoctorCheck[] {
  const foreign = listForeignEntries(stateDir);
  if (foreign.length === 0) return [];
  const more = foreign.length > PROBLEMS_SHOWN_MAX ? `, and ${foreign.length - PROBLEMS_SHOWN_MAX} more` : '';
  const shown = foreign.slice(0, PROBLEMS_SHOWN_MAX).join(', ');
  const message = `The state folder ${stateDir} has entries that are not of this service: ${shown}${more}.`;
  return [buildFailedCheck('state.entries', subject, message, 'Find out who made them, and remove them.')];
}

async function checkFolder(stateDir: string, subject: CheckSubject): Promise<DoctorCheck> {
  const stats = await stat(stateDir).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown');
  const disk = await checkDisk(stateDir, subject);
  if (disk?.status === 'fail') return disk;
  if (stats === 'ENOENT')
    return (
      disk ??
      buildPassedCheck(
        'state.folder',
        subject,
        `The state folder ${stateDir} is created by the first decision.`,
      )
    );
  if (typeof stats === 'string' || !stats.isDirectory())
    return buildFailedCheck(
      'state.folder',
      subject,
      `The state folder ${stateDir} cannot be read${typeof stats === 'string' ? ` (${stats})` : ': it is a file'}.`,
      'Make this user its owner, or set `state_dir`.',
    );
  const isWritable = await access(stateDir, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    return buildFailedCheck(
      'state.folder',
      subject,
      `The state folder ${stateDir} is not writable, so hooks deny everything.`,
      'Make this user its owner, or set `state_dir`.',
    );
  if (disk !== null) return disk;
  const mode = stats.mode & 0o777;
  if ((mode & 0o077) === 0)
    return buildPassedCheck(
      'state.folder',
      subject,
      `The state folder ${stateDir} is readable by this user only.`,
    );
  return buildWarningCheck(
    'state.folder',
    subject,
    `Other users can read the state folder ${stateDir} (mode ${mode.toString(8)}).`,
    `chmod 700 ${stateDir}`,
  );
}

const FREE_BYTES_MIN = 65_536;
const FREE_BYTES_ADVISED = 67_108_864;

/** Checks the free space for the audit log; `null` if there is enough or it is unknown. */
async function checkDisk(stateDir: string, subject: CheckSubject): Promise<DoctorCheck | null> {
  let folder = stateDir;
  for (;;) {
    const disk = await statfs(folder).catch(() => null);
    if (disk !== null) {
      const freeBytes = disk.bavail * disk.bsize;
      if (freeBytes >= FREE_BYTES_ADVISED) return null;
      return freeBytes < FREE_BYTES_MIN
        ? buildFailedCheck(
            'state.disk',
            subject,
            `The disk of the state folder ${stateDir} is full, so hooks deny everything.`,
            'Free some space. Hooks then work again without a restart.',
          )
        : buildWarningCheck(
            'state.disk',
            subject,
            `The disk of the state folder ${stateDir} has ${Math.floor(freeBytes / 1_048_576)} MB left.`,
            'Free some space. Hooks deny everything when the disk is full.',
          );
    }
    if (dirname(folder) === folder) return null;
    folder = dirname(folder);
  }
}

async function checkOwner(
  config: Config,
  runtime: LocalRuntime,
  subject: CheckSubject,
): Promise<DoctorCheck> {
  try {
    const service = await connectService(config.state_dir);
    if (service === null)
      return buildPassedCheck(
        'state.owner',
        subject,
        'No daemon is running. The next hook decides on its own and starts one.',
      );
    const { pid, url, version, policy_hash } = await withTimeout(service.status()).finally(service.close);
    const owner = `${url === null ? 'A daemon' : `The service at ${url}`} (process ${pid}, version ${version})`;
    if (policy_hash === runtime.policy().hash)
      return buildPassedCheck('state.owner', subject, `${owner} answers hooks with the current policy.`);
    return buildWarningCheck(
      'state.owner',
      subject,
      `${owner} uses another policy than the current configuration.`,
      'Run `customshouse policy reload`, which also reports what is wrong.',
    );
  } catch (failure) {
    // Hooks use another socket, so they still decide.
    if (failure instanceof StartFailure || isUnauthenticated(failure))
      return buildFailedCheck(
        'state.owner',
        subject,
        (failure as Error).message,
        'Then run `customshouse doctor` again.',
      );
    return buildFailedCheck(
      'state.owner',
      subject,
      'The process that owns the state folder does not answer, so hooks deny everything.',
      `End the process that ${config.state_dir}/owner.json names.`,
    );
  }
}

function isUnauthenticated(failure: unknown): boolean {
  return failure instanceof SocketFailure && failure.code === 'unauthenticated';
}

/** Rejects if there is no answer within `STATUS_MS`. */
async function withTimeout<Value>(answer: Promise<Value>): Promise<Value> {
  const overdue = AbortSignal.timeout(STATUS_MS);
  return Promise.race([answer, once(overdue, 'abort').then(() => Promise.reject(new Error('late')))]);
}

async function checkAuditLog(
  { config, runtime }: NonNullable<OpenConfig['opened']>,
  subject: CheckSubject,
  probeSessions: readonly string[],
  nowMs: number,
): Promise<readonly DoctorCheck[]> {
  if (!config.audit.enabled)
    return [
      buildWarningCheck(
        'state.trail',
        subject,
        'Decisions are not recorded: `audit.enabled` is false.',
        'Set it to true.',
      ),
    ];
  if (config.audit.index === 'off')
    return [
      buildWarningCheck(
        'state.trail',
        subject,
        'It is not known whether decisions are recorded: `audit.index` is `off`.',
        'Set it to `sqlite` or `postgres`.',
      ),
    ];
  try {
    const { events } = await runtime.queryAudit({ metadata_key: 'probe', last: '1h', limit: 10_000 });
    const written = new Set(events.map(({ metadata }) => metadata.probe));
    const missing = probeSessions.filter((session) => !written.has(session)).length;
    if (missing > 0)
      return [
        buildFailedCheck(
          'state.trail',
          subject,
          `${missing} of the ${probeSessions.length} tested hooks wrote nothing to this audit log.`,
          'These hooks use another configuration than they name, or do not run this program.',
        ),
      ];
    const [newest] = (await runtime.queryAudit({ limit: 1 })).events;
    if (newest !== undefined && Date.parse(newest.timestamp) > nowMs + CLOCK_SLACK_MS)
      return [
        buildWarningCheck(
          'state.clock',
          subject,
          `The newest event is from ${newest.timestamp}, which is in the future: the clock was set back.`,
          'Set the clock. Until then time windows of rules and budgets are wrong.',
        ),
      ];
    return probeSessions.length === 0
      ? []
      : [buildPassedCheck('state.trail', subject, 'The audit log has every tested hook.')];
  } catch (failure) {
    const { message } = failure as Error;
    return [
      buildFailedCheck(
        'state.trail',
        subject,
        `The audit log cannot be read: ${message}`,
        'Try again. If it still fails, run `customshouse audit verify`.',
      ),
    ];
  }
}
