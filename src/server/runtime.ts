import type { Policy } from '../core/types/index.ts';
import { prepareModel } from '../gateways/advisor-model/lazy-model.ts';
import { openLazyLlm } from '../gateways/llm/lazy-llm-proxy.ts';
import type { LlmProxy } from '../gateways/llm/llm-call.ts';
import type { FeaturePorts, OpenFeature } from '../operations/feature.ts';
import type { ModelSettings } from '../operations/model-backend.ts';
import { openFreeModelCosts } from '../operations/model-costs.ts';
import { openNoteWriter } from '../operations/note.ts';
import type { Runtime, ServiceRuntime } from '../operations/runtime.ts';
import type { EventBus } from '../platform/cluster/event-bus.ts';
import { createLazyValue } from '../platform/lazy.ts';
import { limitRate } from '../platform/limit-rate.ts';
import { describeFault, type Log } from '../platform/log.ts';
import { requireAnswer } from '../platform/require-answer.ts';
import type { LazyStore } from '../platform/store/index.ts';
import { describeStoreFault } from '../platform/store/lazy.ts';
import type { Caller } from '../runtime/access/types.ts';
import type { IndexAddress } from '../runtime/audit/audit-index.ts';
import { createEventId } from '../runtime/audit/event-id.ts';
import type { EventHub } from '../runtime/audit/events/hub.ts';
import { openLazyHub } from '../runtime/audit/events/lazy.ts';
import type { Journal } from '../runtime/audit/journal.ts';
import { openAuditLog } from '../runtime/audit/open-audit-log.ts';
import { type LazyClassifiers, openLazyClassifiers } from '../runtime/classifiers/lazy-classifiers.ts';
import type { ClassifierFailure } from '../runtime/classifiers/types.ts';
import type { Fence } from '../runtime/cluster/fence.ts';
import type { Config } from '../runtime/config/index.ts';
import { openAgentList } from '../runtime/enforcement/agent-list.ts';
import { refuseCapability } from '../runtime/enforcement/capability.ts';
import {
  type ActorContext,
  buildTextCrossing,
  buildUnknownActor,
  NO_TEXT,
} from '../runtime/enforcement/crossings.ts';
import { readLoggedTexts } from '../runtime/enforcement/logged-texts.ts';
import type { SessionResetPorts } from '../runtime/enforcement/sessions/reset.ts';
import { openSessionPorts } from '../runtime/enforcement/sessions/settings.ts';
import type { SessionPorts, SessionResetTarget } from '../runtime/enforcement/sessions/types.ts';
import type { EnforcementPorts, Ruling } from '../runtime/enforcement/types.ts';
import type { Endpoint } from '../runtime/observability/endpoint.ts';
import type { Metrics } from '../runtime/observability/metrics.ts';
import type { ServiceProcesses } from '../runtime/observability/service-state.ts';
import type { Telemetry } from '../runtime/observability/telemetry/types.ts';
import type { PluginsInUse } from '../runtime/plugins/types.ts';
import { loadConditions } from '../runtime/policies/conditions.ts';
import {
  openFingerprintSealer,
  openFingerprints,
  unsealFingerprint,
} from '../runtime/policies/fingerprints.ts';
import type { ConfigRequest } from '../runtime/policies/load-config.ts';
import type { ReloadFailure, ReloadReport } from '../runtime/policies/reload-report.ts';
import { openDriverStates } from './driver-states.ts';
import { features } from './features.ts';
import { loadConfigLazily } from './lazy-config.ts';
import { openSeenAgents, type SeenAgents } from './seen-agents.ts';
import { buildStatePaths } from './state-dir.ts';
import { openForeignEntries } from './state-entries.ts';

/** Answers questions about the whole service. The parent implements it, and its workers call it. */
export interface Coordinator {
  readonly ready: () => Promise<boolean>;
  readonly reloadFailure: () => Promise<ReloadFailure | null>;
  readonly metrics: () => Promise<string>;
  readonly agents: () => Promise<readonly string[]>;
  readonly processes: () => Promise<ServiceProcesses | null>;
  readonly plugins: () => Promise<PluginsInUse>;
  readonly reload: (caller: Caller) => Promise<ReloadReport>;
  /** Activates the API keys of the store in all workers. */
  readonly activateKeys: () => Promise<void>;
  readonly syncIndex: () => Promise<void>;
  readonly cluster: Runtime['clusterStatus'];
  readonly awaitActive: Runtime['awaitClusterActive'];
  /** Sends a hint to the processes of all nodes. Never rejects. */
  readonly publish: EventBus['publish'];
  readonly eraseActions: Runtime['eraseActions'];
  /**
   * Starts or stops sending events from an index position on to this process. `null` if no client can
   * subscribe.
   */
  readonly events: ((turn: number, wanted: boolean) => Promise<number>) | null;
}

export interface RuntimeParts {
  readonly version: string;
  readonly config: Config;
  /** The request with which the configuration is read again. */
  readonly request: Omit<ConfigRequest, 'env'>;
  readonly started_ms: number;
  readonly policy: Policy;
  /** `null` with `audit.enabled: false`: no event is recorded. */
  readonly journal: Pick<Journal, 'append'> | null;
  readonly store: LazyStore;
  /** The port that the service listens on. Default: the configured one. */
  readonly port?: number;
  /** Returns the address of the audit index; `null` without one. */
  readonly index_address: () => IndexAddress | null;
  /** `null` with `metrics.enabled: false`. */
  readonly metrics: Metrics | null;
  /** `null` if it is off. */
  readonly telemetry: Telemetry | null;
  readonly coordinator: Coordinator;
  /** The lease of this node; `null` without a cluster. */
  readonly fence: Fence | null;
  /** Delivers the hints of other processes. */
  readonly subscribe: EventBus['subscribe'];
  readonly log: Log;
  readonly now_ms: () => number;
}

/** A runtime, and the functions that its process uses in addition to answering requests. */
export interface OpenRuntime {
  readonly runtime: Runtime;
  readonly agents: SeenAgents;
  /** Returns the LLM proxy. Loaded with the first model call. */
  readonly llm: () => Promise<LlmProxy>;
  /** Returns the hub of the event stream. Loaded with the first subscriber. */
  readonly hub: () => Promise<EventHub>;
  /** Returns the ports that judging and recording use now. A reload replaces them. */
  readonly ports: () => EnforcementPorts;
  /** Activates another policy. Requests in flight keep the policy with which they began. */
  readonly usePolicy: (policy: Policy) => void;
  /**
   * Loads the modules that judging needs under `policy` (default: the active one), because a start does not
   * load them and the first check would wait. Rejects if the policy cannot judge.
   */
  readonly warm: (policy?: Policy) => Promise<void>;
  /** Answers all long-polling callers at once, because the process is about to stop. */
  readonly release: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Builds the runtime of one process that answers operations. */
export function openRuntime(parts: RuntimeParts): OpenRuntime {
  const { config, coordinator, log, now_ms, metrics } = parts;
  const agents = openSeenAgents();
  const auditLog = openAuditLog({ ...parts, journal_dir: buildStatePaths(config.state_dir).journal });
  const unrecorded = { last_ms: Number.NEGATIVE_INFINITY };
  const sessions = openSessionPorts(config, parts.store.open);
  const opened = openFeatures(
    parts,
    () => ports,
    () => runtime,
  );
  const own: FeaturePorts = Object.assign({}, ...opened.map((each) => each.ports));
  const kept = { agents, unrecorded, own, sessions, classifiers: openConfiguredClassifiers(parts) };
  let ports = buildPorts(parts, kept, parts.policy);
  const lazyEnforce = openLazyEnforce(() => ports);
  // Loaded on demand, because only some agents have calls forwarded.
  const forwarder = createLazyValue(async () =>
    (await import('../gateways/forward/forwarder.ts')).openForwarder(config.proxy),
  );
  const plugins = () =>
    requireAnswer(coordinator.plugins(), log, 'The service did not say in time which plug-ins it has.');
  const hub = openLazyHub(parts, auditLog.index);
  const runtime: Runtime = {
    ...{ version: parts.version, mode: config.server.mode, started_ms: parts.started_ms },
    limits: buildLimits(config),
    ...{ now_ms, users: config.dashboard.users },
    operator_prompts: new Set(config.flow.operator_prompts),
    policy: () => ports.policy,
    policyOf: async (hash) => (hash === ports.policy.hash ? ports.policy : readSavedPolicy(config, hash)),
    enforce: lazyEnforce.enforce,
    openSession: (actor, caller) => openSession(actor, caller, ports),
    modelCosts: async () => openFreeModelCosts(),
    presentCapability: refuseCapability,
    identifyUser: async () => null,
    listRecentAlerts: async () => [],
    prepareFirstSignIn: async () => null,
    note: openNoteWriter((event) => ports.record(event)),
    store: parts.store.open,
    telemetry: parts.telemetry,
    ready: async () => now_ms() - unrecorded.last_ms > UNREADY_MS && (await isReady(parts)),
    agentsSeen: () => listAllAgents(coordinator, agents, log),
    ...{ metricsText: () => readMetrics(parts), plugins, eraseActions: coordinator.eraseActions },
    ...buildStatusOperations(parts, opened),
    ...buildClusterOperations(parts),
    ...buildPolicyOperations(parts),
    resetSession: (target, caller) => resetSession(target, caller, { ...ports, store: parts.store.open }),
    ...auditLog.offers,
    events: hasEvents(parts) ? hub.open : null,
    forward: forwarder.open,
    ...joinMembers(opened),
  };
  const llm = openLazyLlm(config, log, { ...runtime, ports: () => ports, counts: metrics?.calls ?? null });
  return {
    runtime,
    agents,
    llm: llm.open,
    hub: hub.open,
    ports: () => ports,
    usePolicy: (policy) => {
      ports = buildPorts(parts, kept, policy);
    },
    warm: async (policy = ports.policy) =>
      void (await Promise.all([lazyEnforce.load(), judgeNothing(policy, config, now_ms())])),
    release: () => runInOrder([hub.close, ...opened.map(({ release = async () => {} }) => release)]),
    close: () =>
      runInOrder([
        ...[llm.close, auditLog.close, () => forwarder.ifOpened(({ close }) => close())],
        ...opened.map(({ close = async () => {} }) => close),
        ...[async () => kept.classifiers?.close(), parts.store.close],
      ]),
  };
}

/** Readers of the event stream read the index, so that there is no stream without it. */
function hasEvents({ journal, coordinator, config }: RuntimeParts): boolean {
  return journal !== null && coordinator.events !== null && config.audit.index !== 'off';
}

/** Opens all features for one process. None loads more than its own record before it is used. */
function openFeatures(
  { config, port, store, metrics, log, coordinator, subscribe }: RuntimeParts,
  ports: () => EnforcementPorts,
  runtime: () => Runtime,
): readonly OpenFeature[] {
  const parts = {
    ...{ config, port, store: store.open, metrics, log, ports, runtime },
    bus: { publish: coordinator.publish, subscribe },
    prepareModel: (settings: ModelSettings) => prepareModel(settings, process.env),
  };
  return features.flatMap(({ open }) => open?.(parts) ?? []);
}

/** The members that features declare next to their types. The gateway of single calls declares `forward`. */
type FeatureMembers = Omit<Runtime, keyof ServiceRuntime | 'forward'>;

function joinMembers(opened: readonly OpenFeature[]): FeatureMembers {
  return Object.assign({}, ...opened.map(({ members }) => members));
}

/** Closes each part, even if one before it fails. */
function runInOrder([first, ...rest]: readonly (() => Promise<void>)[]): Promise<void> {
  return first === undefined ? Promise.resolve() : first().finally(() => runInOrder(rest));
}

type PolicyOperations = Pick<
  Runtime,
  'activateApiKeys' | 'configuration' | 'compileDraft' | 'reload' | 'reloadFailure' | 'unsealFingerprint'
>;

/** The configuration is read without its credentials, because no caller of these may see them. */
function buildPolicyOperations({ request, coordinator, config }: RuntimeParts): PolicyOperations {
  const configuration: Runtime['configuration'] = () =>
    loadConfigLazily({ ...request, env: process.env, secrets: 'leave' });
  return {
    reload: coordinator.reload,
    activateApiKeys: coordinator.activateKeys,
    // Health must not depend on the parent's answer.
    reloadFailure: () => coordinator.reloadFailure().catch(() => null),
    configuration,
    unsealFingerprint: (sealed, eventId) => unsealFingerprint(config, sealed, eventId),
    compileDraft: async (draft) => {
      const [read, { loadPolicy }] = await Promise.all([
        configuration(),
        import('../runtime/policies/load-policy.ts'),
      ]);
      if (!read.ok) return { ok: false, problems: read.problems, warnings: [] };
      return loadPolicy(read.config, { ...draft, state_dir: config.state_dir });
    },
  };
}

interface LazyEnforce {
  readonly enforce: Runtime['enforce'];
  readonly load: () => Promise<void>;
}

/** Loads enforcement on demand, because a start does not need it. */
function openLazyEnforce(ports: () => EnforcementPorts): LazyEnforce {
  let loaded: typeof import('../runtime/enforcement/enforce.ts') | null = null;
  const load = async () => {
    loaded = await import('../runtime/enforcement/enforce.ts');
    return loaded;
  };
  return {
    load: async () => void (await load()),
    enforce: async (crossing, caller, endpoint, approvalRequestId, extras) => {
      const { enforce } = loaded ?? (await load());
      return enforce(crossing, caller, endpoint, ports(), approvalRequestId, extras);
    },
  };
}

async function isReady({ coordinator, store, fence }: RuntimeParts): Promise<boolean> {
  if ((fence?.findFenced() ?? null) !== null) return false;
  return (await coordinator.ready().catch(() => false)) && (await store.isThere());
}

/** Returns the agents of all workers, or of this worker alone if the others cannot be queried. */
function listAllAgents(
  coordinator: RuntimeParts['coordinator'],
  own: SeenAgents,
  log: RuntimeParts['log'],
): Promise<readonly string[]> {
  return coordinator.agents().catch((fault) => {
    // A worker that starts slowly is no fault: the answer has this worker's agents.
    log.debug('the agents of the other workers are not known', describeFault(fault));
    return own.list();
  });
}

async function readMetrics({ metrics, coordinator, log }: RuntimeParts): Promise<string> {
  if (metrics === null) return '';
  return requireAnswer(
    coordinator.metrics(),
    log,
    'The metrics of all workers could not be gathered in time.',
  );
}

function buildLimits({ server, scan, state_dir }: Config): Runtime['limits'] {
  return { body_bytes_max: server.body_bytes_max, file_roots: scan.file_roots, state_dir };
}

/** Loads the reset on demand, because few services ever use it. */
async function resetSession(
  target: SessionResetTarget,
  caller: Caller,
  ports: SessionResetPorts,
): Promise<number> {
  return (await import('../runtime/enforcement/sessions/reset.ts')).resetSession(target, caller, ports);
}

/** Loads the record of openings on demand, because only some services need it. */
async function openSession(actor: ActorContext, caller: Caller, ports: EnforcementPorts): Promise<void> {
  const { recordSessionOpening } = await import('../runtime/enforcement/enforce.ts');
  return recordSessionOpening(actor, caller, ports);
}

/** Rejects if the policy cannot judge. */
async function judgeNothing(policy: Policy, config: Config, nowMs: number): Promise<void> {
  const [{ judge }, conditions] = await Promise.all([
    import('../core/decision/judge.ts'),
    loadConditions(policy),
  ]);
  // The first search builds the tables of the search.
  const nothing = buildTextCrossing('input', buildUnknownActor(nowMs), NO_TEXT);
  const { fault } = judge(nothing, policy, openFingerprints(config, policy), conditions);
  if (fault) throw new Error('nothing can be judged by this policy');
}

async function readSavedPolicy(config: Config, hash: string): Promise<Policy | null> {
  const { readPolicy } = await import('../runtime/policies/saved-policy.ts');
  return readPolicy(buildStatePaths(config.state_dir).policies, hash).catch(() => null);
}

/**
 * The time for which a process reports "not ready" after a decision that could not be recorded, in
 * milliseconds. Another process may have free disk space.
 */
const UNREADY_MS = 5_000;

/** The parts that the ports of all policies share. */
interface KeptParts {
  readonly agents: SeenAgents;
  readonly unrecorded: { last_ms: number };
  /** The ports that features implement. */
  readonly own: FeaturePorts;
  readonly sessions: SessionPorts;
  readonly classifiers: LazyClassifiers | null;
}

function buildPorts(
  parts: RuntimeParts,
  { agents, unrecorded, own, sessions, classifiers }: KeptParts,
  policy: Policy,
): EnforcementPorts {
  const { config, journal, metrics, telemetry, log, fence } = parts;
  const report = limitRate((fault: unknown) =>
    log.error('decisions cannot be recorded, and are blocked', describeFault(fault)),
  );
  const reportSessionFault = limitRate((fault: unknown) =>
    log.error('sessions cannot be kept, and what depends on them is blocked', describeStoreFault(fault)),
  );
  // The log never holds the judged content, so the `event_id` is the only reference to it.
  const reportJudgeFault = limitRate(({ event_id }: Ruling, endpoint: Endpoint) =>
    log.error('judging met a fault, and the answer is a block', { event_id, endpoint }),
  );
  return {
    policy,
    fingerprintOf: openFingerprints(config, policy),
    sealFingerprint: journal === null ? null : openFingerprintSealer(config),
    now_ms: parts.now_ms,
    new_event_id: createEventId,
    record: journal === null ? async () => {} : journal.append,
    findAgentBlock: openAgentList(config.state_dir),
    sessions,
    ...(classifiers !== null && { classifiers }),
    ...(fence !== null && { fence }),
    telemetry,
    onSessionFault: reportSessionFault,
    logged_texts: readLoggedTexts(config.audit),
    ...own,
    onRuling: (ruling, endpoint, scanSeconds) => {
      agents.note(ruling.crossing.agent_id);
      metrics?.count(ruling, endpoint, scanSeconds);
      if (ruling.verdict.rule === 'fault.internal') reportJudgeFault(ruling, endpoint);
    },
    onRecordFault: (fault) => {
      unrecorded.last_ms = parts.now_ms();
      report(fault);
    },
  };
}

function openConfiguredClassifiers({ config, metrics, log }: RuntimeParts): LazyClassifiers | null {
  return openLazyClassifiers({
    settings: config.classifiers,
    env: process.env,
    count: metrics?.countClassifierCall ?? (() => {}),
    onFailure: limitRate((classifier: string, failure: ClassifierFailure) =>
      log.warn('a classifier gave no valid answer', { classifier, failure }),
    ),
  });
}

/** The checks of drivers open with the first operator who asks. */
function buildStatusOperations(
  parts: RuntimeParts,
  opened: readonly OpenFeature[],
): Pick<Runtime, 'drivers' | 'foreignEntries' | 'processes'> {
  const { coordinator, log, config, now_ms } = parts;
  const listFeatureDrivers = async () =>
    (await Promise.all(opened.map(({ listDrivers }) => listDrivers?.() ?? []))).flat();
  const drivers = createLazyValue(async () => openDriverStates({ ...parts, listFeatureDrivers }));
  return {
    drivers: async () => (await drivers.open())(),
    foreignEntries: openForeignEntries(config.state_dir, now_ms),
    processes: () =>
      requireAnswer(coordinator.processes(), log, 'The service did not list its processes in time.'),
  };
}

type ClusterOperations = Pick<Runtime, 'clusterStatus' | 'awaitClusterActive' | 'lease'>;

/** An answer leaves out the nodes if the supervisor does not answer in time: the change is made anyway. */
function buildClusterOperations({ coordinator, fence, log }: RuntimeParts): ClusterOperations {
  return {
    lease: () => (fence === null ? null : { ...fence.getLease(), is_fenced: fence.findFenced() !== null }),
    clusterStatus: () =>
      requireAnswer(coordinator.cluster(), log, 'The service did not say in time how its cluster is.'),
    awaitClusterActive: () =>
      fence === null ? Promise.resolve(null) : coordinator.awaitActive().catch(() => null),
  };
}
