import assert from 'node:assert/strict';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { LocalRuntime } from '../operations/runtime.ts';
import { loadConfig } from './load-config.ts';
import { openLocalRuntime } from './local.ts';
import { takeOwnership } from './state-dir.ts';
import { buildExampleCrossing, caller, SECRET } from './testing/examples.ts';
import {
  createTestFolder,
  readAllFiles,
  startTestService,
  stopLeftoverServices,
  type TestFolder,
} from './testing/service.ts';

let folder: TestFolder;
before(() => {
  folder = createTestFolder();
});
after(async () => {
  await stopLeftoverServices();
  folder.remove();
});

async function open(dir = folder.dir): Promise<LocalRuntime> {
  const read = await loadConfig({ path: null, env: {}, cwd: dir });
  assert.ok(read.ok);
  return openLocalRuntime(read.config);
}

function check(runtime: LocalRuntime, text: string) {
  return runtime.enforce(buildExampleCrossing(text, { now_ms: Date.now() }), caller, 'scan_input');
}

test('asking where nothing ever ran makes nothing', async () => {
  const runtime = await open();
  assert.deepEqual(await runtime.queryAudit({}), { events: [], count: 0, events_searched: 0 });
  await runtime.close();
  assert.equal(existsSync(folder.state_dir), false);
});

test('without a service a decision is recorded, and found by the next command', async () => {
  const runtime = await open();
  const { event_id, verdict } = await check(runtime, `Use key ${SECRET}`);
  assert.deepEqual([verdict.decision, verdict.fault], ['block', false]);
  await runtime.close();
  assert.equal(statSync(folder.state_dir).mode & 0o777, 0o700);
  const next = await open();
  const { events } = await next.queryAudit({ event_id });
  assert.deepEqual(
    events.map(({ policy_name }) => policy_name),
    ['builtin.secret.input'],
  );
  await next.close();
  assert.ok(!readAllFiles(folder.state_dir).includes(SECRET));
});

test('without a service the store is created at its first use, and not before', async () => {
  const own = createTestFolder();
  writeFileSync(join(own.dir, 'service.yaml'), 'log: {level: silent}');
  const file = join(own.state_dir, 'store.db');
  const runtime = await open(own.dir);
  await check(runtime, 'hello');
  assert.ok(!existsSync(file));
  const store = await runtime.store();
  assert.ok(await store.isThere());
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await runtime.close();
  await assert.rejects(runtime.store(), { code: 'store_closed' });
  own.remove();
});

test('next to a service, only the service migrates the tables', async () => {
  const own = createTestFolder();
  writeFileSync(join(own.dir, 'service.yaml'), 'log: {level: silent}');
  mkdirSync(own.state_dir, { mode: 0o700 });
  const ownership = takeOwnership(own.state_dir);
  const runtime = await open(own.dir);
  await assert.rejects(runtime.store(), { code: 'store_unavailable' });
  assert.ok(!existsSync(join(own.state_dir, 'store.db')));
  ownership.release();
  await runtime.store();
  await runtime.close();
  own.remove();
});

test('next to a running service, a decision is chained by the service and found through it', async () => {
  const service = await startTestService(folder.dir);
  const runtime = await open();
  const { event_id } = await check(runtime, 'hello');
  const { events } = await runtime.queryAudit({ event_id });
  assert.equal(events.length, 1);
  const served = await service.post('/query', { event_id });
  assert.equal(served.count, 1);
  await runtime.close();
  service.signal('SIGTERM');
  assert.equal(await service.ended, 0);
});

test('if the folder has an owner that does not answer, the request is refused and nothing is written', async () => {
  const ownership = takeOwnership(folder.state_dir);
  const runtime = await open();
  const requested = runtime.queryAudit({});
  await assert.rejects(requested, { code: 'state_in_use' });
  await runtime.close();
  ownership.release();
});

test('a decision that cannot be recorded is a block', async () => {
  const blocked = createTestFolder();
  writeFileSync(join(blocked.dir, '.service'), 'a file where the folder should be');
  writeFileSync(join(blocked.dir, 'service.yaml'), 'log: {level: silent}');
  const runtime = await open(blocked.dir);
  const { verdict } = await check(runtime, 'hello');
  assert.deepEqual([verdict.decision, verdict.rule], ['block', 'fault.audit']);
  await runtime.close();
  blocked.remove();
});

test('a bad policy is refused with what is wrong', async () => {
  writeFileSync(join(folder.dir, 'service.yaml'), 'policies:\n  - {name: broken, boundary: nowhere}\n');
  await assert.rejects(open(), (failure: Error & { code: string; problems: unknown[] }) => {
    assert.equal(failure.code, 'config_invalid');
    assert.ok(failure.problems.length > 0);
    return true;
  });
});
