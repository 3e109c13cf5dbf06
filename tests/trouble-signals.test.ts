/** Signals of problems for operators: metrics over all workers, and the last reload in health and ready. */
import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestService, type TestService } from './support/service.ts';

const NAMES = [
  'service_policy_reload_failures_total',
  'service_journal_write_failures_total',
  'service_approvals_pending',
] as const;

const ASK = { name: 'ask', boundary: 'action', condition: { tools: ['refund'] }, action: 'require_approval' };
const OWN_WORD = 'zebra-crossing-93';

function writePolicies({ dir }: TestService, policies: readonly object[]): void {
  const file = join(dir, 'service.yaml');
  const config = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...config, policies }));
}

async function readMetrics(service: TestService): Promise<Record<(typeof NAMES)[number], number>> {
  const text = await (await fetch(`${service.url}/v1/metrics`)).text();
  const values = NAMES.map((name) => {
    assert.match(text, new RegExp(`^# HELP ${name} [A-Z].+\\.$`, 'm'));
    const lines = text.split('\n').filter((line) => line.startsWith(`${name} `));
    assert.equal(lines.length, 1, `${name} is one series`);
    return [name, Number(lines[0]!.split(' ')[1])];
  });
  return Object.fromEntries(values);
}

async function callTool(service: TestService, tool: string): Promise<{ decision: string }> {
  const answer = await fetch(`${service.url}/v1/intercept/tool`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tool, input: { n: 1 }, agent_id: 'a', session_id: 's' }),
  });
  return (await answer.json()) as { decision: string };
}

async function reload(service: TestService): Promise<number> {
  const token = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${service.url}/v1/policies/reload`, { method: 'POST', headers, body: '{}' });
  await answer.body?.cancel();
  return answer.status;
}

async function readBoth(service: TestService): Promise<{ status: number; text: string; last: unknown }[]> {
  // Sends several requests, because the answer must not depend on the worker.
  const paths = ['/v1/health', '/v1/ready', '/v1/health', '/v1/ready', '/v1/health', '/v1/ready'];
  return Promise.all(
    paths.map(async (path) => {
      const answer = await fetch(`${service.url}${path}`, { headers: { connection: 'close' } });
      const text = await answer.text();
      return {
        status: answer.status,
        text,
        last: (JSON.parse(text) as { last_reload?: unknown }).last_reload,
      };
    }),
  );
}

test('a reload that fails, a journal that takes nothing and requests that are pending can be seen from outside', async () => {
  const service = await startTestService({ config: { policies: [ASK] }, workers: 2 });
  const journal = join(service.state_dir, 'journal');
  try {
    assert.deepEqual(Object.values(await readMetrics(service)), [0, 0, 0]);
    for (const { status, last } of await readBoth(service))
      assert.deepEqual([status, last], [200, undefined]);

    assert.equal((await callTool(service, 'refund')).decision, 'block');
    assert.equal((await readMetrics(service)).service_approvals_pending, 1);

    writePolicies(service, [ASK, { ...ASK, name: 'wrong', action: OWN_WORD }]);
    assert.equal(await reload(service), 409);
    for (const { status, text, last } of await readBoth(service)) {
      assert.equal(status, 200, 'the policy before still decides');
      assert.deepEqual(last, { status: 'failed', code: 'policy_invalid' });
      assert.ok(!text.includes(OWN_WORD), 'nothing of the file');
    }
    const failed = await readMetrics(service);
    assert.ok(failed.service_policy_reload_failures_total >= 1);
    writePolicies(service, [ASK]);
    assert.equal(await reload(service), 200);
    for (const { last } of await readBoth(service)) assert.equal(last, undefined);

    renameSync(journal, `${journal}.away`);
    assert.equal((await callTool(service, 'other')).decision, 'block');
    renameSync(`${journal}.away`, journal);
    assert.equal((await callTool(service, 'other')).decision, 'allow');
    const after = await readMetrics(service);
    assert.equal(after.service_journal_write_failures_total, 1);
    assert.ok(after.service_policy_reload_failures_total >= failed.service_policy_reload_failures_total);
  } finally {
    await service.stop();
  }
});
