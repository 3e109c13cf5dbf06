/** Faults of a running service: decisions continue or block, and a request that cannot be answered gets an error. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestService, type TestService } from './support/service.ts';

async function check(service: TestService): Promise<{ status: number; decision: string; rule: string }> {
  const answer = await fetch(`${service.url}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"text":"What is the weather like in Lisbon?"}',
  });
  const { decision, rule } = (await answer.json()) as { decision: string; rule: string };
  return { status: answer.status, decision, rule };
}

const getStatus = async (service: TestService, path: string) => (await fetch(`${service.url}${path}`)).status;

test('while the parent hangs, decisions continue, and questions to the whole service are 503', async () => {
  const service = await startTestService({ workers: 2 });
  process.kill(service.pid, 'SIGSTOP');
  try {
    assert.deepEqual(await check(service), { status: 200, decision: 'allow', rule: 'default.allow' });
    assert.equal(await getStatus(service, '/v1/health'), 200);
    assert.equal(await getStatus(service, '/v1/metrics'), 503);
    assert.equal(await getStatus(service, '/v1/ready'), 503);
  } finally {
    process.kill(service.pid, 'SIGCONT');
  }
  assert.equal(await getStatus(service, '/v1/metrics'), 200);
  await service.stop();
});

test('while the journal cannot be written, every decision blocks and the service is not ready', async () => {
  const service = await startTestService({ workers: 1 });
  const journal = join(service.state_dir, 'journal');
  assert.equal(await getStatus(service, '/v1/ready'), 200);
  renameSync(journal, `${journal}.away`);
  assert.deepEqual(await check(service), { status: 500, decision: 'block', rule: 'fault.audit' });
  assert.equal(await getStatus(service, '/v1/ready'), 503);
  renameSync(`${journal}.away`, journal);
  assert.deepEqual(await check(service), { status: 200, decision: 'allow', rule: 'default.allow' });
  await service.stop();
});
