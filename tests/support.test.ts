/** The basis of every test from the outside: the service starts, fails and stops as requested. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { startTestService } from './support/service.ts';
import { until } from './support/until.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('a service with two workers, which end with it', async () => {
  const service = await startTestService({ workers: 2 });
  const workers = service.worker_pids();
  assert.equal(workers.length, 2);
  const ending = await service.stop();
  assert.deepEqual(ending, { code: 0, signal: null }, service.logs());
  assert.deepEqual(workers.filter(isAlive), []);
  assert.ok(!existsSync(service.dir));
});

test('workers do not outlive a parent that was killed', async () => {
  const service = await startTestService({ workers: 2 });
  const workers = service.worker_pids();
  assert.equal(workers.length, 2);
  const ending = await service.kill('SIGKILL');
  assert.equal(ending.signal, 'SIGKILL');
  await until(() => !workers.some(isAlive), 'the end of the workers');
  await service.stop();
});

test('a start that fails says why', async () => {
  await assert.rejects(startTestService({ config: { sever: {} } }), /exit code 2[\s\S]*`server`/);
});

test('a state folder can be started on again', async () => {
  const first = await startTestService({ config: { pii_protection: { action: 'flag' } }, keep: true });
  await first.stop();
  const second = await startTestService({ dir: first.dir });
  const answer = await fetch(`${second.url}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'mail jane.doe@corp-mail.io' }),
  });
  assert.equal(((await answer.json()) as { action: string }).action, 'flag');
  await second.stop();
});
