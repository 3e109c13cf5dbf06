import { compilePolicy, type PolicySettings } from '../../core/policy/compile/index.ts';
import { DETECTION_SETTINGS } from '../../core/testing/policies.ts';
import type { Policy } from '../../core/types/index.ts';
import { intelligenceSection } from '../../features/advisors/settings.ts';
import { buildPresentCapability } from '../../features/capabilities/present.ts';
import { openMemory } from '../../features/memory/memory.ts';
import { openForwarder } from '../../gateways/forward/forwarder.ts';
import type { ProxySettings } from '../../gateways/upstream/settings.ts';
import { StoreFailure } from '../../platform/store/failure.ts';
import { parseFilter } from '../../runtime/audit/filter.ts';
import type { AuditEvent, AuditFilter } from '../../runtime/audit/types.ts';
import { parseConfigValue } from '../../runtime/config/parse-config-value.ts';
import { proxySchema } from '../../runtime/config/schema-proxy.ts';
import { enforce } from '../../runtime/enforcement/enforce.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import { NO_PLUGINS } from '../../runtime/plugins/types.ts';
import { openConfiguredSecrets } from '../../runtime/secrets/open.ts';
import { loadConfig } from '../../server/load-config.ts';
import { openNoteWriter } from '../note.ts';
import type { Runtime } from '../runtime.ts';
import { EXAMPLE_ADAPTER } from './adapter.ts';

/** Options of a test runtime. Each defaults to a service without configuration. */
export interface TestOptions {
  readonly rules?: readonly unknown[];
  readonly tenants?: Readonly<Record<string, readonly unknown[]>>;
  /** v1alpha1 documents: contracts, identities. */
  readonly documents?: readonly unknown[];
  readonly settings?: Partial<PolicySettings>;
  readonly mode?: Runtime['mode'];
  readonly users?: Runtime['users'];
  readonly file_roots?: readonly string[];
  readonly state_dir?: string;
  readonly body_bytes_max?: number;
  readonly proxy?: ProxySettings;
  /** Replaces parts of the runtime, to test how operations handle their failures. */
  readonly instead?: Partial<Runtime>;
  readonly record?: EnforcementPorts['record'];
}

export interface TestRuntime {
  readonly runtime: Runtime;
  /** All recorded events, oldest first. */
  readonly events: AuditEvent[];
  /** The `endpoint` labels of all checks so far. */
  readonly endpoints: ReadonlySet<string>;
}

const NO_PROXY = parseConfigValue({}, proxySchema, { env: {}, secrets: new Map() }).value as ProxySettings;

const NO_ADVISORS = parseConfigValue({}, intelligenceSection.schema, { env: {}, secrets: new Map() })
  .value as Runtime['advisors']['settings'];

export const NOW_MS = Date.UTC(2026, 0, 31, 12);

/** The master key that encrypts memory in tests. */
const MASTER_KEY = 'a-master-key-of-memory-for-tests-only';

const SETTINGS: PolicySettings = {
  default_action: 'block',
  builtin_rules: true,
  undeclared_tools: 'allow',
  unknown_agents: 'allow',
  file: 'service.yaml',
  ...DETECTION_SETTINGS,
  pii_protection: { enabled: true, action: 'redact' },
  limits: { text_bytes_max: 8_388_608, depth_max: 128, nodes_max: 200_000, findings_max: 1_000 },
  redaction: { typed: false },
};

const SECRETS = { timeout_ms: 5_000, cache_ttl_seconds: 0, cache_entries_max: 0, env_map: {} };
const SECRETS_WORLD = {
  env: { MAIL_PASSWORD: ['mail', 'password', '7a61'].join('-') },
  driverOf: () => Promise.reject(new Error('this test has no plug-ins')),
  now_ms: () => NOW_MS,
};

/** Creates a runtime in memory: the real compiler and the real enforcement, with a list as the journal. */
export function createTestRuntime(options: TestOptions = {}): TestRuntime {
  const policy = compileTestPolicy(options);
  const events: AuditEvent[] = [];
  const endpoints = new Set<string>();
  let count = 0;
  const ports: EnforcementPorts = {
    policy,
    now_ms: () => NOW_MS,
    new_event_id: () => `evt_${(++count).toString(16).padStart(24, '0')}`,
    record: options.record ?? (async (event) => void events.push(event)),
  };
  const runtime: Runtime = {
    version: '0.0.0-test',
    mode: options.mode ?? 'sidecar',
    started_ms: NOW_MS - 61_500,
    limits: {
      body_bytes_max: options.body_bytes_max ?? 10_485_760,
      file_roots: options.file_roots ?? [],
      state_dir: options.state_dir ?? '/nowhere',
    },
    advisors: {
      settings: NO_ADVISORS,
      backend: () => Promise.reject(new Error('This test has no model.')),
    },
    telemetry: null,
    now_ms: () => NOW_MS,
    users: options.users ?? [],
    policy: () => policy,
    unsealFingerprint: () => null,
    policyOf: async (hash) => (hash === policy.hash ? policy : null),
    enforce: (crossing, caller, endpoint, id) => {
      endpoints.add(endpoint);
      return enforce(crossing, caller, endpoint, ports, id);
    },
    approvals: () => Promise.reject(new StoreFailure('store_unavailable', 'This test has no store.')),
    identifyUser: async (sessionToken) =>
      (await (await runtime.accounts()).identify(sessionToken))?.caller ?? null,
    openSession: async () => {},
    operator_prompts: new Set(),
    prepareFirstSignIn: async () => null,
    accounts: () => Promise.reject(new StoreFailure('store_unavailable', 'This test has no store.')),
    modelCosts: () => runtime.costs(),
    costs: () => Promise.reject(new StoreFailure('store_unavailable', 'This test has no store.')),
    listRecentAlerts: () => Promise.reject(new StoreFailure('store_unavailable', 'This test has no store.')),
    alerts: () => Promise.reject(new StoreFailure('store_unavailable', 'This test has no store.')),
    store: () => Promise.reject(new StoreFailure('store_unavailable', 'This test has no store.')),
    presentCapability: buildPresentCapability(() => runtime.capabilities()),
    capabilities: () => Promise.reject(new StoreFailure('store_unavailable', 'This test has no store.')),
    tasks: () => Promise.reject(new StoreFailure('store_unavailable', 'This test has no store.')),
    secrets: { backend: 'env', open: () => openConfiguredSecrets('env', SECRETS, SECRETS_WORLD) },
    note: openNoteWriter(ports.record),
    memory: async () =>
      openMemory({
        mode: options.mode ?? 'sidecar',
        keys: {
          state_dir: options.state_dir ?? '/nowhere',
          memory: { master_key: MASTER_KEY, previous_keys: [] },
        },
        limits: { agent_entries_max: 100, agent_bytes_max: 1_048_576 },
        store: () => runtime.store(),
        ports: () => ports,
        steady_ms: () => 0,
        log: { warn: () => {}, error: () => {} },
      }),
    ready: async () => true,
    processes: async () => null,
    clusterStatus: async () => null,
    awaitClusterActive: async () => null,
    lease: () => null,
    drivers: async () => [],
    foreignEntries: () => [],
    agentsSeen: async () => [...new Set(events.map((event) => event.agent_id))].sort(),
    plugins: async () => ({ ...NO_PLUGINS, adapters: [EXAMPLE_ADAPTER] }),
    metricsText: async () => '# HELP service_requests_total Checks.\n',
    reload: async () => ({
      reloaded: true,
      policy_hash: policy.hash,
      generation: 2,
      changed: false,
      warnings: [],
    }),
    configuration: () => loadConfig({ path: null, env: {}, cwd: '/nowhere', secrets: 'leave' }),
    compileDraft: () =>
      Promise.reject(new StoreFailure('store_unavailable', 'This test has no configuration file.')),
    activateApiKeys: async () => {},
    reloadFailure: async () => null,
    eraseActions: async () => 0,
    resetSession: async () => 0,
    agentBlocks: async () => ({ block: async () => true, unblock: async () => false, list: async () => [] }),
    forward: async () => openForwarder(options.proxy ?? NO_PROXY),
    queryAudit: async (filter) => queryEvents(events, filter),
    findEventCallers: async (eventIds) => findCallers(events, eventIds),
    countEvents: async () => [],
    listAuditSessions: async () => [],
    listIndexedHeads: async () => new Map(),
    auditWindow: {
      countFields: async () => ({}),
      listPolicyIntervals: async () => [],
      listApprovalHistories: async () => [],
      listChainStates: async () => [],
      findOldestEvent: async () => null,
    },
    buildReportFiles: async () => [],
    findComplianceGaps: async () => ({ title: 'None', edition: '', controls: [] }),
    events: null,
    ...options.instead,
  };
  return { runtime, events, endpoints };
}

function compileTestPolicy({ rules = [], tenants = {}, documents = [], settings }: TestOptions): Policy {
  const { policy, problems } = compilePolicy({
    inline_rules: [
      { file: 'service.yaml', path: 'policies', tenant_id: null, rules: [...rules] },
      ...Object.entries(tenants).map(([tenantId, own]) => ({
        file: 'service.yaml',
        path: `tenants.${tenantId}.policies`,
        tenant_id: tenantId,
        rules: [...own],
      })),
    ],
    documents: documents.map((value, at) => ({ file: `document-${at}.yaml`, value })),
    settings: { ...SETTINGS, ...settings },
  });
  if (policy === null) throw new Error(JSON.stringify(problems));
  return policy;
}

function findCallers(events: readonly AuditEvent[], eventIds: readonly string[]) {
  const found = events.filter(({ event_id }) => eventIds.includes(event_id));
  return new Map(found.map(({ event_id, caller_id }) => [event_id, caller_id]));
}

/** Applies the filters that tests use, by plain equality. The index itself has its own test. */
function queryEvents(events: readonly AuditEvent[], filter: AuditFilter) {
  const { equal, limit } = parseFilter(filter, NOW_MS);
  const { phase, ...fields } = equal;
  const found = events.filter(
    (event) =>
      (phase === undefined || event.metadata.phase === phase) &&
      Object.entries(fields).every(([field, value]) => event[field as keyof AuditEvent] === value),
  );
  const page = found.toReversed().slice(0, limit);
  return { events: page, count: page.length };
}
