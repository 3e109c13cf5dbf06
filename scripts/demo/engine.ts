/** The real decision engine of a state folder, under a clock that the demonstration sets. */
import { callOperation } from '../../src/operations/call.ts';
import type { AnyOperation, Context } from '../../src/operations/operation.ts';
import type { Runtime } from '../../src/operations/runtime.ts';
import { openLog } from '../../src/platform/log.ts';
import { openLazyStore, parseStoreSettings } from '../../src/platform/store/index.ts';
import {
  buildAgentCaller,
  buildOperatorCaller,
  DEFAULT_PERMISSIONS,
} from '../../src/runtime/access/callers.ts';
import type { Caller } from '../../src/runtime/access/types.ts';
import { openJournal, openSigningKey } from '../../src/runtime/audit/index.ts';
import type { AuditEvent } from '../../src/runtime/audit/types.ts';
import type { Config } from '../../src/runtime/config/index.ts';
import { loadPolicy } from '../../src/runtime/policies/index.ts';
import { savePolicy } from '../../src/runtime/policies/saved-policy.ts';
import { loadConfig } from '../../src/server/load-config.ts';
import { type Coordinator, openRuntime } from '../../src/server/runtime.ts';
import { buildStatePaths, makeStateDir, takeOwnerLock } from '../../src/server/state-dir.ts';
import { openServiceStore } from '../../src/server/store.ts';

/** The time of the demonstration, in milliseconds since 1970. */
export interface DemoClock {
  now_ms: number;
}

/** The engine of the demonstration. */
export interface DemoEngine {
  readonly runtime: Runtime;
  /** All events that were recorded, oldest first. */
  readonly events: readonly AuditEvent[];
  /** Calls an operation as the API key of a tenant, or as the operator. */
  readonly call: (operation: AnyOperation, input: unknown, caller: Caller) => Promise<unknown>;
  readonly callerOf: (tenantId: string) => Caller;
  readonly operator: Caller;
  /** Appends an event that is made from a recorded one. */
  readonly append: (event: AuditEvent) => Promise<void>;
  /** Closes the journal and the store, so that a service can take the folder. */
  readonly close: () => Promise<void>;
}

/** Opens the engine on a folder with `service.yaml`. The journal, the store and the policy are those of a service. */
export async function openDemoEngine(folder: string, clock: DemoClock): Promise<DemoEngine> {
  const config = await readDemoConfig(folder);
  makeStateDir(config.state_dir);
  const lock = takeOwnerLock(config.state_dir);
  if (lock === null) throw new Error(`A service uses the state folder ${config.state_dir}: stop it first.`);
  const made = await loadPolicy(config);
  if (!made.ok) throw new Error(JSON.stringify(made.problems));
  const paths = buildStatePaths(config.state_dir);
  await savePolicy(paths.policies, made.policy);
  const log = openLog({ ...config.log, name: 'demo' });
  const nowMs = () => clock.now_ms;
  const journal = await openJournal({
    dir: paths.journal,
    writer: 'demo',
    max_size_bytes: config.audit.max_size_mb * 1_048_576,
    max_age_days: config.audit.max_age_days,
    compress_rotated: config.audit.compress_rotated,
    signing_key: await openSigningKey({ dir: paths.keys, now_ms: nowMs }),
    now_ms: nowMs,
  });
  const events: AuditEvent[] = [];
  const append = async (event: AuditEvent): Promise<void> => {
    events.push(event);
    await journal.append(event);
  };
  const { runtime, close } = openRuntime({
    version: 'demo',
    config,
    request: { path: null, cwd: folder },
    started_ms: clock.now_ms,
    policy: made.policy,
    journal: { append },
    store: openLazyStore(() => openServiceStore(parseStoreSettings(config), { migrate: true }), log),
    index_address: () => ({ path: paths.index }),
    metrics: null,
    telemetry: null,
    coordinator: buildDemoCoordinator(made.plugins),
    fence: null,
    subscribe: () => () => {},
    log,
    now_ms: nowMs,
  });
  const operator = buildOperatorCaller('operator');
  return {
    runtime,
    events,
    operator,
    callerOf: (tenantId) => buildAgentCaller(`key:${tenantId}`, [...DEFAULT_PERMISSIONS], [tenantId], '*'),
    call: (operation, input, caller) => callOperation(operation, input, buildContext(runtime, caller)),
    append: journal.append,
    close: async () => {
      await close();
      await journal.close();
      lock.release();
    },
  };
}

function buildContext(runtime: Runtime, caller: Caller): Context {
  return { runtime, caller, request_id: 'demo' };
}

async function readDemoConfig(folder: string): Promise<Config> {
  const result = await loadConfig({ path: null, env: {}, cwd: folder, secrets: 'decide' });
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.config;
}

function buildDemoCoordinator(plugins: Awaited<ReturnType<Coordinator['plugins']>>): Coordinator {
  return {
    ready: async () => true,
    reloadFailure: async () => null,
    metrics: async () => '',
    agents: async () => [],
    processes: async () => null,
    plugins: async () => plugins,
    cluster: async () => null,
    awaitActive: async () => null,
    publish: async () => {},
    activateKeys: async () => {},
    reload: () => Promise.reject(new Error('the demonstration reloads nothing')),
    syncIndex: async () => {},
    eraseActions: async () => 0,
    events: null,
  };
}
