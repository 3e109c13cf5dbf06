import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Policy } from '../core/types/index.ts';
import type { LocalRuntime, Runtime } from '../operations/runtime.ts';
import { StartFailure } from '../platform/failure.ts';
import { openLog } from '../platform/log.ts';
import { openLazyStore, parseStoreSettings, type Store } from '../platform/store/index.ts';
import type { Caller } from '../runtime/access/types.ts';
import type { ActionErasure } from '../runtime/audit/erase-actions.ts';
import type { AuditPosition } from '../runtime/audit/events/follow-index.ts';
import { writeSpool } from '../runtime/audit/spool.ts';
import type { AuditEvent } from '../runtime/audit/types.ts';
import type { Config } from '../runtime/config/index.ts';
import { logExcludedPlugins } from '../runtime/plugins/excluded-plugins.ts';
import type { PluginsInUse } from '../runtime/plugins/types.ts';
import { loadPolicy } from '../runtime/policies/index.ts';
import type { ReloadReport } from '../runtime/policies/reload-report.ts';
import { readIndexAddress, requireIndexAddress } from './index-address.ts';
import { type Coordinator, openRuntime } from './runtime.ts';
import { connectService, type ServiceClient } from './socket-client.ts';
import { buildStatePaths, makeStateDir, takeOwnerLock } from './state-dir.ts';
import { setForeignEntriesAside } from './state-entries.ts';
import { openServiceStore } from './store.ts';

/**
 * Opens a runtime for a short-lived process. It loads the policy from the present configuration. Events go to
 * the spool, and the journal owner chains them. It answers questions to the audit index with or without a
 * running service.
 *
 * @throws StartFailure `config_invalid` with the problems of the policy documents
 */
export async function openLocalRuntime(config: Config, version = 'local'): Promise<LocalRuntime> {
  const made = await loadPolicy(config);
  if (!made.ok) {
    throw new StartFailure(
      'config_invalid',
      `The policy has ${made.problems.length === 1 ? 'a problem' : `${made.problems.length} problems`}.`,
      made.problems,
    );
  }
  const paths = buildStatePaths(config.state_dir);
  const append = async (event: AuditEvent): Promise<void> => {
    await keepPolicy(paths.policies, made.policy);
    await writeSpool({ dir: paths.journal, events: [event], now_ms: Date.now });
  };
  const client = openLazyClient(config.state_dir);
  const log = openLog({ ...config.log, name: 'cli' });
  logExcludedPlugins(made.plugins, log);
  const { runtime, close } = openRuntime({
    version,
    config,
    request: { path: config.origin.file, cwd: config.origin.base_dir },
    started_ms: Date.now(),
    policy: made.policy,
    journal: config.audit.enabled ? { append } : null,
    store: openLazyStore(() => openAlone(config), log),
    index_address: () => readIndexAddress(config),
    metrics: null,
    telemetry: null,
    coordinator: buildLocalCoordinator(config, client, made.plugins),
    // A command decides alone, by the policy of this machine and the store.
    fence: null,
    subscribe: () => () => {},
    log,
    now_ms: Date.now,
  });
  const queryAudit: Runtime['queryAudit'] = async (filter) =>
    existsSync(paths.journal) ? runtime.queryAudit(filter) : NO_EVENTS;
  return {
    ...runtime,
    queryAudit,
    listAuditSessions: async (requested) =>
      existsSync(paths.journal) ? runtime.listAuditSessions(requested) : [],
    countEvents: async (requested) => (existsSync(paths.journal) ? runtime.countEvents(requested) : []),
    auditWindow: existsSync(paths.journal) ? runtime.auditWindow : NO_WINDOW,
    findComplianceGaps: (requested) => {
      const withEvidence = requested.with_evidence && existsSync(paths.journal);
      return runtime.findComplianceGaps({ ...requested, with_evidence: withEvidence });
    },
    settleJournal: async () => {
      if (existsSync(paths.journal)) await syncIndex(config, client);
      return paths.journal;
    },
    close: async () => {
      await close();
      (await client.opened())?.close();
    },
  };
}

const NO_WINDOW: Runtime['auditWindow'] = {
  countFields: async () => ({}),
  listPolicyIntervals: async () => [],
  listApprovalHistories: async () => [],
  listChainStates: async () => [],
  findOldestEvent: async () => null,
};

const NO_EVENTS = { events: [], count: 0, events_searched: 0 };

/** Opens and migrates the store if no service runs. A running service has already done so. */
async function openAlone(config: Config): Promise<Store> {
  makeStateDir(config.state_dir);
  const lock = takeOwnerLock(config.state_dir);
  try {
    return await openServiceStore(parseStoreSettings(config), { migrate: lock !== null });
  } finally {
    lock?.release();
  }
}

/** Saves the policy that decides, unless it is saved already, so that the decision can be explained later. */
async function keepPolicy(dir: string, policy: Policy): Promise<void> {
  const { isSaved, savePolicy } = await import('../runtime/policies/saved-policy.ts');
  if (!(await isSaved(dir, policy))) await savePolicy(dir, policy);
}

interface LazyClient {
  readonly open: () => Promise<ServiceClient | null>;
  /** Returns the client if `open` has opened one, without opening one. */
  readonly opened: () => Promise<ServiceClient | null>;
}

function openLazyClient(stateDir: string): LazyClient {
  let client: Promise<ServiceClient | null> | null = null;
  return {
    open: async () => {
      client = Promise.resolve((await client) ?? (await connectService(stateDir)));
      return client;
    },
    opened: async () => client,
  };
}

function buildLocalCoordinator(config: Config, client: LazyClient, plugins: PluginsInUse): Coordinator {
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
    reload: (_caller: Caller): Promise<ReloadReport> =>
      Promise.reject(new Error('a policy is reloaded by the service that has it')),
    activateKeys: async () => {},
    syncIndex: () => syncIndex(config, client),
    eraseActions: (erasure) => eraseAlone(erasure, config),
    events: null,
  };
}

const RETRY_MS = 100;
const PATIENCE_MS = 3_000;

/** Erases shown actions. A running service has erased them itself: the command asks it first. */
async function eraseAlone(erasure: ActionErasure, config: Config): Promise<number> {
  const lock = takeOwnerLock(config.state_dir);
  if (lock === null) throw buildBusyFailure(config.state_dir);
  try {
    const { eraseActions } = await import('./erase-actions.ts');
    const { state_dir } = config;
    const indexAddress = readIndexAddress(config);
    return await eraseActions(erasure, {
      state_dir,
      index_address: indexAddress,
      sync: () => fillIndex(config),
      journals: new Map(),
    });
  } finally {
    lock.release();
  }
}

/** Updates the index through the service that owns it, or directly if no service runs. */
async function syncIndex(config: Config, client: LazyClient): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    const service = await client.open();
    if (service !== null) return service.syncIndex();
    const lock = takeOwnerLock(config.state_dir);
    if (lock !== null) {
      try {
        return await fillIndex(config);
      } finally {
        lock.release();
      }
    }
    // A service that starts or stops owns the folder for a moment without an open socket.
    if (waitedMs >= PATIENCE_MS) throw buildBusyFailure(config.state_dir);
    await sleep(RETRY_MS);
  }
}

/**
 * Returns the end of the audit log after the index has every event that was answered before the call. Works
 * with and without a running service.
 */
export async function readLocalAuditEnd(config: Config): Promise<AuditPosition> {
  const paths = buildStatePaths(config.state_dir);
  if (!existsSync(paths.journal)) return { after: null, positions: [] };
  const client = openLazyClient(config.state_dir);
  try {
    await syncIndex(config, client);
  } finally {
    (await client.opened())?.close();
  }
  const address = requireIndexAddress(config);
  const [{ openIndex }, { readAuditEnd }] = await Promise.all([
    import('../runtime/audit/open-index.ts'),
    import('../runtime/audit/events/follow-index.ts'),
  ]);
  const index = await openIndex({ ...address, read_only: true });
  try {
    return await readAuditEnd(index);
  } finally {
    await index.close();
  }
}

function buildBusyFailure(stateDir: string): StartFailure {
  return new StartFailure(
    'state_in_use',
    `A service that does not answer has the state folder \`${stateDir}\`. Try again.`,
  );
}

/**
 * Does the background work of a service once: chains the events of the spool, and reads the journal into the
 * index.
 */
async function fillIndex(config: Config): Promise<void> {
  const paths = buildStatePaths(config.state_dir);
  const [{ openWriter }, { drainSpool }, { openIndex }, { openIndexer }, { createOrder }] = await Promise.all(
    [
      import('./writer.ts'),
      import('../runtime/audit/spool.ts'),
      import('../runtime/audit/open-index.ts'),
      import('../runtime/audit/indexer.ts'),
      import('../runtime/audit/order.ts'),
    ],
  );
  const log = openLog({ ...config.log, name: 'cli' });
  setForeignEntriesAside(config.state_dir);
  await createOrder(paths.journal);
  const journal = await openWriter(config, 'parent', log, null);
  try {
    await drainSpool({ dir: paths.journal, journal });
  } finally {
    await journal.close();
  }
  const address = readIndexAddress(config);
  if (address === null) return;
  const index = await openIndex(address);
  try {
    await openIndexer({ index, dir: paths.journal }).sync();
  } finally {
    await index.close();
  }
}
