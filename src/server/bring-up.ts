import { closeSync, openSync } from 'node:fs';
import type { DocumentProblem } from '../core/types/index.ts';
import { StartFailure } from '../platform/failure.ts';
import { describeFault, type Log, openLog } from '../platform/log.ts';
import { listStoreWarnings, parseStoreSettings } from '../platform/store/settings.ts';
import { needsAgentToken } from '../runtime/access/index.ts';
import { ensureToken } from '../runtime/access/tokens.ts';
import { type Config, formatProblem } from '../runtime/config/index.ts';
import { logExcludedPlugins } from '../runtime/plugins/excluded-plugins.ts';
import { findFingerprintProblem } from '../runtime/policies/fingerprints.ts';
import {
  type ActivePolicy,
  buildWatchList,
  loadPolicy,
  reloadConfiguredPolicy,
  watchFiles,
} from '../runtime/policies/index.ts';
import type { ConfigRequest } from '../runtime/policies/load-config.ts';
import type { PolicyResult } from '../runtime/policies/load-policy.ts';
import { findPolicyWarnings } from '../runtime/policies/policy-warnings.ts';
import { findRestartKeys } from '../runtime/policies/restart-keys.ts';
import type { ClusterMember } from './cluster/node.ts';
import { openIdleWatch, takeFromDaemon } from './daemon.ts';
import { loadConfig } from './load-config.ts';
import { restoreManagedPolicy } from './managed-copy.ts';
import { type OwnerStore, openOwnerStore } from './owner-store.ts';
import { openParent, type Parent } from './parent.ts';
import { findFreePort } from './port.ts';
import type { PolicyLoad } from './reloading.ts';
import type { RunningService, ServiceOptions } from './service.ts';
import {
  buildUnwritableFailure,
  isDiskFailure,
  makeStateDir,
  type Ownership,
  type StateOwner,
  takeOwnership,
} from './state-dir.ts';
import { requireTelemetry } from './telemetry.ts';
import type { WorkerProcess } from './workers.ts';

const PATIENCE_MS = 10_000;
/** When `npm start` forwards Ctrl-C, one key press arrives twice. Only a later signal asks to stop at once. */
const ECHO_MS = 1_000;

/**
 * Starts the service around a worker process that was forked earlier: loads the configuration, takes ownership
 * of the state folder, loads the policy and starts the workers.
 *
 * @throws StartFailure whose message says what to do
 */
export async function bringUpService(
  options: ServiceOptions,
  spare: WorkerProcess | null,
  startedMs: number,
): Promise<StartedService> {
  const read = await loadConfig(options.request);
  if (!read.ok) throw buildInvalidConfigFailure(read.problems);
  const { config } = read;
  requireTelemetry(config);
  const exposed = makeStateDir(config.state_dir);
  const isDaemon = options.worker_url === null;
  const ownership = isDaemon ? takeOwnership(config.state_dir) : await takeFromDaemon(config.state_dir);
  const idle = openIdleWatch(options.idle_ms ?? 0);
  let parent: Parent | null = null;
  let store: OwnerStore | null = null;
  let cluster: ClusterMember | null = null;
  try {
    const owner = describeOwner(options, startedMs);
    ownership.announce({ ...owner, url: null });
    store = await openOwnerStore(config);
    const log = openLog({ ...config.log, name: 'parent' });
    cluster = await joinIfConfigured(options, config, log);
    makeTokens(config);
    const [made, port] = await Promise.all([
      loadFirstPolicy(config, store),
      isDaemon ? 0 : findFreePort(config.server.host, config.server.port),
    ]);
    const url = isDaemon ? null : getUrl(config.server.host, port);
    const latest = { config, patterns: made.patterns, plugins: made.plugins };
    logExcludedPlugins(made.plugins, log);
    parent = await openParent({
      ...options,
      config,
      policy: made.policy,
      store,
      plugins: made.plugins,
      secret_readings: read.secret_readings,
      loadPolicy: () =>
        reloadPolicy(options.request, config, latest, isDaemon ? idle.handlers.onLeave : null),
      started_ms: startedMs,
      url,
      port,
      spare,
      daemon: isDaemon ? idle.handlers : null,
      cluster,
      log,
    });
    ownership.announce({ ...owner, url });
    const doubtful = isDaemon ? [] : await findPolicyWarnings(config, made);
    const found = [...read.warnings, ...made.warnings, ...doubtful].map(formatProblem);
    const warnings = [...found, ...exposed, ...listOperatorWarnings(config)];
    const firstSignIn = isDaemon ? null : await parent.prepareFirstSignIn();
    const facts = { config, policy: made.policy, port, url, warnings, first_sign_in: firstSignIn };
    const service = attachSignals(parent, { ownership, log, latest }, facts);
    if (isDaemon) idle.begin(() => void service.stop());
    return service;
  } catch (failure) {
    await parent?.stop(0);
    await cluster?.leave();
    await store?.close();
    ownership.release();
    throw isDiskFailure(failure) ? buildUnwritableFailure(config.state_dir, failure) : failure;
  }
}

/** Joins the cluster. A daemon is no node: it has no HTTP address, and decides for the hooks of its machine. */
async function joinIfConfigured(
  { worker_url, version }: ServiceOptions,
  config: Config,
  log: Log,
): Promise<ClusterMember | null> {
  if (worker_url === null || !config.cluster.enabled) return null;
  const { joinCluster } = await import('./cluster/node.ts');
  return joinCluster(config, version, log);
}

/** Loads the policy with the managed part that the store has now. @throws StartFailure */
async function loadFirstPolicy(config: Config, { store, admit }: OwnerStore) {
  await restoreManagedPolicy(config, store);
  const made = requireUsable(await loadPolicy(config), config);
  await admit(made.policy);
  return made;
}

/** @throws StartFailure `config_invalid` with every problem */
function requireUsable(made: PolicyResult, config: Config): Extract<PolicyResult, { ok: true }> {
  if (!made.ok) throw buildInvalidConfigFailure(made.problems);
  const keyless = findFingerprintProblem(config, made.policy);
  if (keyless !== null) throw buildInvalidConfigFailure([keyless]);
  return made;
}

function describeOwner({ version, is_own_call }: ServiceOptions, startedMs: number): Omit<StateOwner, 'url'> {
  const startedAt = new Date(startedMs).toISOString();
  return { pid: process.pid, version, started_at: startedAt, ...(is_own_call && { is_own_call }) };
}

function buildInvalidConfigFailure(problems: readonly DocumentProblem[]): StartFailure {
  const count = `${problems.length} problem${problems.length === 1 ? '' : 's'}`;
  return new StartFailure('config_invalid', `The configuration has ${count}.`, problems);
}

function makeTokens(config: Config): void {
  ensureToken(config.state_dir, 'operator');
  if (needsAgentToken({ auth: config.auth, host: config.server.host }))
    ensureToken(config.state_dir, 'agent');
}

function getUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the warnings for the operator who starts the service, one sentence each. */
function listOperatorWarnings(config: Config): string[] {
  const unaudited = 'The audit journal is off (`audit.enabled`): no decision is recorded.';
  return [...(config.audit.enabled ? [] : [unaudited]), ...listStoreWarnings(parseStoreSettings(config))];
}

/** A running service or daemon. A daemon has no `url`. */
export type StartedService = Omit<RunningService, 'url'> & { readonly url: string | null };

/**
 * The configuration and policy parts that were activated last. They define the files to watch, and a reload
 * compares with them.
 */
interface Latest {
  config: Config;
  patterns: ActivePolicy['patterns'];
  plugins: ActivePolicy['plugins'];
}

/** Calls `leave` if a setting needs a restart: no one restarts a daemon, but the next hook starts one. */
async function reloadPolicy(
  request: ConfigRequest,
  started: Config,
  latest: Latest,
  leave: (() => void) | null,
): Promise<PolicyLoad> {
  const next = await reloadConfiguredPolicy(request, loadConfig, started, latest);
  const { secret_readings } = next;
  if (!next.ok) return { ok: false, problems: next.problems, secret_readings };
  const keyless = findFingerprintProblem(started, next.policy);
  if (keyless !== null) return { ok: false, problems: [keyless], secret_readings };
  latest.config = next.config;
  latest.patterns = next.patterns;
  latest.plugins = next.plugins;
  if (findRestartKeys(started, next.config).length > 0) leave?.();
  const warnings = next.warnings.map(formatProblem);
  const { api_keys } = next.config.auth;
  return { ok: true, policy: next.policy, plugins: next.plugins, api_keys, warnings, secret_readings };
}

interface OwnedState {
  readonly ownership: Ownership;
  readonly log: Log;
  readonly latest: Readonly<Latest>;
}

/** Connects the running service with signals and file changes. */
function attachSignals(
  parent: Parent,
  { ownership, log, latest }: OwnedState,
  facts: Pick<StartedService, 'config' | 'policy' | 'port' | 'url' | 'warnings' | 'first_sign_in'>,
): StartedService {
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  const noticed = (callerId: string): Promise<void> =>
    parent.reload(callerId).then(
      () => {},
      (fault) => log.error('the policy could not be reloaded', describeFault(fault)),
    );
  const watch = watchFiles({
    list: () => buildWatchList(latest.config),
    onChange: () => noticed('service:file-watch'),
  });
  let stopping: Promise<void> | null = null;
  let requestedMs = 0;
  const stop = (): Promise<void> => {
    if (stopping === null) {
      requestedMs = performance.now();
      stopping = finish();
      return stopping;
    }
    return performance.now() - requestedMs < ECHO_MS ? stopping : parent.kill();
  };
  const signals: readonly (readonly [NodeJS.Signals, () => void])[] = [
    ['SIGTERM', () => void stop()],
    ['SIGINT', () => void stop()],
    ['SIGHUP', () => void (isTerminalGone() ? stop() : noticed('service:sighup'))],
  ];
  for (const [signal, act] of signals) process.on(signal, act);
  const crash = (fault: unknown): void => {
    log.error('the service has a fault, and ends', describeFault(fault));
    void log.flush().finally(() => process.exit(1));
  };
  process.on('uncaughtException', crash);
  log.info('the service has started', { url: facts.url, policy_hash: facts.policy.hash });

  async function finish(): Promise<void> {
    watch.close();
    log.info('the service is stopping');
    const { forced } = await parent.stop(PATIENCE_MS);
    ownership.release();
    log.info('the service has stopped', { forced });
    await log.flush();
    for (const [signal, act] of signals) process.off(signal, act);
    process.off('uncaughtException', crash);
    resolve(forced ? 1 : 0);
  }

  return { ...facts, status: parent.status, reload: parent.reload, stop: () => stop(), ended };
}

/**
 * Returns whether the terminal has closed. A closing terminal also sends SIGHUP, and `/dev/tty` can then no
 * longer be opened.
 */
function isTerminalGone(): boolean {
  if (!process.stderr.isTTY) return false;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}
