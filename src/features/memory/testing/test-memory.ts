/** Memory of one process over the store of a test, with an adjustable clock. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTestPolicy } from '../../../core/testing/policies.ts';
import type { Json } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';
import type { Caller } from '../../../runtime/access/types.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import { openSessionClock } from '../../../runtime/enforcement/sessions/clock.ts';
import type { EnforcementPorts } from '../../../runtime/enforcement/types.ts';
import { buildExamplePorts } from '../../../server/testing/examples.ts';
import { activateMasterKeys } from '../key-activation.ts';
import type { MasterKeySettings } from '../master-keys.ts';
import { openMemory } from '../memory.ts';
import type { Memory, MemorySubject } from '../types.ts';

export const MEMORY_NOW_MS = Date.UTC(2026, 0, 31, 12);
export const HOUR_MS = 3_600_000;

/** One document for each scope, with a field of every type and limit. */
export const MEMORY_DOCUMENTS = [
  {
    memory: {
      name: 'notes',
      scope: 'session',
      max_entries: 6,
      default_retention: '1h',
      fields: [
        { name: 'text', type: 'string', tag: 'internal' },
        { name: 'sealed', type: 'string', tag: 'internal', encrypted: true },
        { name: 'number', type: 'number', tag: 'internal' },
        { name: 'flag', type: 'boolean', tag: 'internal' },
        { name: 'list', type: 'list', tag: 'internal' },
        { name: 'object', type: 'object', tag: 'internal', value_bytes_max: 8_388_608 },
        { name: 'short', type: 'string', tag: 'internal', value_bytes_max: 12, retention: '10s' },
        { name: 'health', type: 'string', tag: 'personal.phi', encrypted: true },
      ],
    },
  },
  {
    memory: {
      name: 'profile',
      scope: 'user',
      max_entries: 2,
      fields: [
        { name: 'language', type: 'string', tag: 'internal', required: true },
        { name: 'colour', type: 'string', tag: 'internal' },
        { name: 'shape', type: 'string', tag: 'internal' },
      ],
    },
  },
  {
    memory: {
      name: 'facts',
      scope: 'global',
      fields: [{ name: 'motto', type: 'string', tag: 'internal', encrypted: true }],
    },
  },
];

export const MEMORY_SUBJECT: MemorySubject = {
  tenant_id: 'default',
  agent_id: 'support-bot',
  session_id: 'sess-1',
  user_id: 'user-1',
  source_agent_id: null,
  destination_agent_id: null,
};

export const MEMORY_CALLER: Caller = {
  id: 'key:support',
  kind: 'agent',
  permissions: ['memory:use'],
  tenants: '*',
  agents: '*',
};

export interface TestMemory {
  readonly memory: Memory;
  /** The enforcement ports that all other crossings use. */
  readonly ports: EnforcementPorts;
  readonly events: AuditEvent[];
  /** The messages of the service log. */
  readonly logged: string[];
  /** Milliseconds since 1970, which a test may change. */
  readonly wall: { ms: number };
  readonly place: MasterKeySettings;
  /** Writes a value and returns its handle, or `null`. */
  readonly writeValue: (
    key: string,
    readValue: Json,
    subject?: Partial<MemorySubject>,
  ) => Promise<string | null>;
  readonly value: (key: string, subject?: Partial<MemorySubject>) => Promise<Json>;
  readonly resolveValue: (handleId: string, subject?: Partial<MemorySubject>) => Promise<Json>;
}

export interface TestMemoryOptions {
  readonly rules?: readonly unknown[];
  readonly documents?: readonly unknown[];
  readonly mode?: 'sidecar' | 'gateway';
  readonly limits?: { readonly agent_entries_max: number; readonly agent_bytes_max: number };
  readonly master_key?: string;
  readonly previous_keys?: readonly string[];
  /** Replaces the store, to test its absence. */
  readonly store?: () => Promise<Store>;
  readonly wall?: { ms: number };
  /** Activates the keys first, as the parent process does. Default `true`. */
  readonly admit?: boolean;
}

export const TEST_MASTER_KEY = 'master-key-for-tests-'.padEnd(43, '1');

export async function openTestMemory(store: Store, options: TestMemoryOptions = {}): Promise<TestMemory> {
  const {
    rules = [],
    documents = MEMORY_DOCUMENTS,
    mode = 'sidecar',
    wall = { ms: MEMORY_NOW_MS },
    admit = true,
  } = options;
  const policy = buildTestPolicy({ rules, documents });
  const events: AuditEvent[] = [];
  const logged: string[] = [];
  const log = (message: string, fields?: object) => void logged.push(JSON.stringify({ message, ...fields }));
  const sessions = {
    store: async () => store,
    limits: { idle_ms: HOUR_MS, age_ms: 24 * HOUR_MS },
    timeOf: openSessionClock(),
  };
  const own = buildExamplePorts(events, { policy, now_ms: () => wall.ms, sessions });
  const place: MasterKeySettings = {
    state_dir: '/nowhere',
    memory: {
      master_key: options.master_key ?? TEST_MASTER_KEY,
      previous_keys: [...(options.previous_keys ?? [])],
    },
  };
  if (admit) await activateMasterKeys(place, store, () => wall.ms);
  const memory = openMemory({
    mode,
    keys: place,
    limits: options.limits ?? { agent_entries_max: 1_000, agent_bytes_max: 16_777_216 },
    store: options.store ?? (async () => store),
    ports: () => own,
    steady_ms: () => 0,
    log: { warn: log, error: log },
  });
  const as = (subject: Partial<MemorySubject>): MemorySubject => ({ ...MEMORY_SUBJECT, ...subject });
  return {
    memory,
    ports: own,
    events,
    logged,
    wall,
    place,
    writeValue: async (key, value, subject = {}) => {
      const request = { key, value, schema: null, declared_tags: [] };
      return (await memory.write(as(subject), MEMORY_CALLER, request)).entry?.entry_id ?? null;
    },
    value: async (key, subject = {}) => (await memory.readKey(as(subject), MEMORY_CALLER, key, null)).value,
    resolveValue: async (handleId, subject = {}) =>
      (await memory.resolve(as(subject), MEMORY_CALLER, handleId)).value,
  };
}

/** Creates a state folder for the duration of one test. */
export async function withStateDir<T>(run: (stateDir: string) => Promise<T>): Promise<T> {
  const stateDir = mkdtempSync(join(tmpdir(), 'memory-state-'));
  try {
    return await run(stateDir);
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}
