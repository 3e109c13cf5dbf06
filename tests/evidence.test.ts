/** Verification and evidence packs over the API, on the real service: progress, result, download, scope and refusals. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { takeJobLock } from '../src/features/evidence/job-files.ts';
import { auditJobShow, auditJobs, evidencePackDownload } from '../src/features/evidence/job-operations.ts';
import { loadVerifier } from '../src/features/evidence/verify-pack.ts';
import { callOperation } from '../src/operations/call.ts';
import type { AnyOperation } from '../src/operations/operation.ts';
import { createTestRuntime } from '../src/operations/testing/runtime.ts';
import type { Caller } from '../src/runtime/access/types.ts';
import { startTestService, type TestService } from './support/service.ts';

const KEY = ['svc', 'key', 'e'.repeat(43)].join('_');
const PERMISSIONS = ['check', 'audit:read', 'audit:export', 'audit:manage'];
const CONFIG = {
  auth: {
    api_keys: [
      { id: 'grabbing', sha256: createHash('sha256').update(KEY).digest('hex'), permissions: PERMISSIONS },
    ],
  },
};
const JOBS = '/v1/dashboard/audit/jobs';
const MARKERS = { acme: ['AKIA', 'Q3EGRIZ7V4KJXW2A'].join(''), globex: 'jane.marker@corp-mail.io' };

let service: TestService;
let operator: string;
before(async () => {
  service = await startTestService({ config: CONFIG, workers: 2 });
  operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  for (const [tenantId, marker] of Object.entries(MARKERS))
    for (let at = 0; at < 5; at++)
      await call('/v1/scan/input', {
        text: `my value is ${marker}`,
        tenant_id: tenantId,
        agent_id: `${tenantId}-bot`,
      });
});
after(() => service.stop());

type Headers = Readonly<Record<string, string>>;

async function call(path: string, body?: object, headers?: Headers) {
  const answer = await fetch(`${service.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      connection: 'close',
      ...(body && { 'content-type': 'application/json' }),
      ...(headers ?? { authorization: `Bearer ${operator}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  return { status: answer.status, body: (await answer.json()) as any };
}

/** Reads a job until it has ended. */
async function wait(jobId: string) {
  for (let tries = 0; tries < 1_200; tries++) {
    const { body } = await call(`${JOBS}/${jobId}`);
    if (body.state !== 'running') return body;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the job did not end');
}

test('a verification runs in the background, and its result is an event', async () => {
  const started = await call('/v1/dashboard/audit/verify', {});
  assert.equal(started.status, 200, JSON.stringify(started.body));
  const job = await wait(started.body.job_id);
  assert.deepEqual([job.state, job.kind, job.verification?.intact], ['done', 'verify', true]);
  assert.ok(job.progress.total_bytes > 0);
  assert.equal(job.progress.done_bytes, job.progress.total_bytes);
  const events = await call('/v1/audit/query', { phase: 'audit_verify' });
  assert.deepEqual(
    events.body.events.map((event: { decision: string; caller_id: string }) => [
      event.decision,
      event.caller_id,
    ]),
    [['allow', 'operator']],
  );
});

/** Makes a pack, downloads it and verifies it. */
async function makePack(input: object) {
  const started = await call('/v1/dashboard/evidence/packs', input);
  assert.equal(started.status, 200, JSON.stringify(started.body));
  const job = await wait(started.body.job_id);
  assert.equal(job.state, 'done', JSON.stringify(job));
  const answer = await fetch(`${service.url}/v1/dashboard/evidence/packs/${job.job_id}`, {
    headers: { authorization: `Bearer ${operator}` },
  });
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/gzip']);
  const bytes = Buffer.from(await answer.arrayBuffer());
  assert.equal(createHash('sha256').update(bytes).digest('hex'), job.pack.sha256);
  const path = join(service.state_dir, `${job.job_id}.downloaded`);
  writeFileSync(path, bytes);
  const { verifyPack } = await loadVerifier();
  return { job, report: await verifyPack(path, { public_key: null }), path };
}

async function readText(path: string): Promise<string> {
  const { gunzipSync } = await import('node:zlib');
  return gunzipSync(readFileSync(path)).toString('latin1');
}

test('a pack is made in the background, downloaded and verified, and holds no evaluated text', async () => {
  const { job, report, path } = await makePack({ last: '1h', framework: 'hipaa' });
  assert.equal(report.broken, null);
  assert.ok(report.events >= 10);
  assert.deepEqual([job.pack.framework, job.tenant_id], ['hipaa', null]);
  const text = await readText(path);
  assert.match(text, /report\/report\.html/);
  assert.match(text, /globex-bot/, 'negative control');
  for (const marker of Object.values(MARKERS)) assert.ok(!text.includes(marker), 'no raw text');
});

test('a pack of one tenant holds nothing of another', async () => {
  const { job, report, path } = await makePack({ last: '1h', tenant_id: 'acme' });
  assert.deepEqual([report.broken, report.tenant_id], [null, 'acme']);
  assert.ok(job.pack.omitted >= 5);
  const text = await readText(path);
  assert.match(text, /acme-bot/, 'negative control');
  assert.doesNotMatch(text, /globex/);
});

test('one job of a kind runs at a time', () => {
  const lock = takeJobLock(service.state_dir, 'verify');
  assert.notEqual(lock, null);
  return call('/v1/dashboard/audit/verify', {})
    .then(({ status, body }) => assert.deepEqual([status, body.code], [409, 'conflict']))
    .finally(() => lock?.release());
});

const scoped = (tenants: Caller['tenants']): Caller => ({
  ...{ id: 'user:ann', kind: 'person', permissions: ['audit:export'], agents: '*' },
  tenants,
});

test('a user of a tenant sees the packs of that tenant only, and never a verification', async () => {
  const { runtime } = createTestRuntime({ state_dir: service.state_dir });
  const all = (await call(JOBS)).body.jobs as { job_id: string; tenant_id: string | null }[];
  assert.ok(all.length >= 3);
  let compared = 0;
  for (const [tenants, expected] of [
    [['acme'], ['acme']],
    [['globex'], []],
  ] as const) {
    const context = { runtime, caller: scoped(tenants), request_id: 'test' };
    const { jobs } = await callOperation(auditJobs, {}, context);
    assert.deepEqual(
      jobs.map(({ tenant_id }) => tenant_id),
      expected,
    );
    for (const { job_id, tenant_id } of all) {
      const may = tenants.includes(tenant_id as never);
      for (const operation of [auditJobShow, evidencePackDownload] as readonly AnyOperation[]) {
        const outcome = await callOperation(operation, { job_id }, context).then(
          () => 'answered',
          (error) => error.code,
        );
        assert.equal(outcome, may ? 'answered' : 'not_found');
        compared += 1;
      }
    }
  }
  assert.ok(compared >= 12);
});

test('agents, names of this machine and unknown jobs are refused', async () => {
  for (const headers of [{ 'x-service-key': KEY }, { 'x-service-user': 'admin' }, {}] as Headers[]) {
    for (const path of ['/v1/dashboard/audit/verify', '/v1/dashboard/evidence/packs'])
      assert.equal((await call(path, {}, headers)).status, 403, `${path} ${JSON.stringify(headers)}`);
    assert.equal((await call(JOBS, undefined, headers)).status, 403);
  }
  const none = `job_${'0'.repeat(24)}`;
  assert.equal((await call(`${JOBS}/${none}`)).status, 404);
  assert.equal((await call(`${JOBS}/${none}/cancel`, {})).status, 404);
  assert.equal((await call(`/v1/dashboard/evidence/packs/${none}`)).status, 404);
  for (const jobId of ['..%2f..%2foperator-token', 'job_x', `${none}.json`])
    assert.ok([400, 404].includes((await call(`${JOBS}/${jobId}`)).status), jobId);
  for (const body of [{ framework: 'none' }, { since: '2999-01-01' }, { last: 'soon' }])
    assert.equal((await call('/v1/dashboard/evidence/packs', body)).status, 400, JSON.stringify(body));
});

test('a broken log is found in the background, with its place, and gives no pack', async () => {
  const folder = join(service.state_dir, 'journal', 'worker-1');
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl'))!);
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  // On a slow machine the second line is a checkpoint.
  const at = lines.findIndex((line) => line.includes('"boundary"'));
  const changed = lines.with(at, lines[at]!.replace('"boundary"', '"boundari"'));
  writeFileSync(file, changed.join('\n'));
  try {
    const verified = await wait((await call('/v1/dashboard/audit/verify', {})).body.job_id);
    assert.match(verified.verification.broken.file, /^worker-1\/\d+\.jsonl$/);
    assert.equal(verified.verification.broken.line, at + 1);
    const packed = await wait((await call('/v1/dashboard/evidence/packs', { last: '1h' })).body.job_id);
    assert.deepEqual([packed.state, packed.pack], ['failed', null]);
    assert.match(packed.error, /broken at worker-1/);
  } finally {
    writeFileSync(file, text);
  }
});
