/** A decision that needs no state asks no database, in a cluster as without one. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLog } from '../../platform/log.ts';
import { openLazyStore, StoreFailure } from '../../platform/store/index.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { openFence, readMachineMs } from '../../runtime/cluster/fence.ts';
import { NO_PLUGINS } from '../../runtime/plugins/types.ts';
import { loadPolicy } from '../../runtime/policies/index.ts';
import { loadConfig } from '../load-config.ts';
import { type Coordinator, openRuntime } from '../runtime.ts';
import { buildExampleCrossing, caller } from '../testing/examples.ts';

const CHECKS = 100;
const YAML = 'storage: {url: "postgres://127.0.0.1:1/x"}\ncluster: {enabled: true, node_id: a}';
const coordinator: Coordinator = {
  ready: async () => true,
  reloadFailure: async () => null,
  metrics: async () => '',
  agents: async () => [],
  processes: async () => null,
  plugins: async () => NO_PLUGINS,
  cluster: async () => null,
  awaitActive: async () => null,
  publish: async () => {},
  reload: () => Promise.reject(new Error('nothing is reloaded here')),
  activateKeys: async () => {},
  syncIndex: async () => {},
  eraseActions: async () => 0,
  events: null,
};

test('a check without state opens no store, with a lease and after it', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'no-queries-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'service.yaml'), YAML);
  const read = await loadConfig({ path: null, env: {}, cwd });
  assert.ok(read.ok, JSON.stringify(read));
  const { config } = read;
  const made = await loadPolicy(config);
  assert.ok(made.ok);
  const log = openLog({ level: 'silent', format: 'json', name: 'test' });
  const events: AuditEvent[] = [];
  let opened = 0;
  const store = openLazyStore(() => {
    opened += 1;
    return Promise.reject(new StoreFailure('store_unavailable', 'This test has no store.'));
  }, log);
  const live = { synced_ms: 0, policy_revision: 5, policies_differ: false };
  const fence = openFence(config.cluster, { ...live, valid_until_ms: readMachineMs() + 3_600_000 });
  const { runtime, close } = openRuntime({
    ...{ version: 'test', config, request: { path: null, cwd }, started_ms: 0, policy: made.policy },
    journal: { append: async (event) => void events.push(event) },
    ...{ store, index_address: () => null, metrics: null, telemetry: null, coordinator },
    ...{ fence, subscribe: () => () => {}, log, now_ms: Date.now },
  });
  t.after(close);
  const check = async () =>
    (await runtime.enforce(buildExampleCrossing('hello'), caller, 'scan_input')).verdict.rule;
  for (let round = 0; round < CHECKS; round++) assert.equal(await check(), 'default.allow');
  fence.useLease({ ...live, valid_until_ms: 0 });
  assert.equal(await check(), 'fault.cluster');
  assert.deepEqual([events.length, opened], [CHECKS + 1, 0]);
  assert.ok(events.every(({ policy_revision }) => policy_revision === 5));
  // The readiness of a process does ask the store: the count counts.
  fence.useLease({ ...live, valid_until_ms: readMachineMs() + 3_600_000 });
  assert.equal(await runtime.ready(), false);
  assert.equal(opened, 1);
});
