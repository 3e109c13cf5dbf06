/** Detection with user configuration: over HTTP, with two workers, and changed while the service runs. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { stringify } from 'yaml';
import { ownNodeEnvironment, root, runProgram } from './support/checkout.ts';
import { startTestService, type TestService } from './support/service.ts';

const KEY = ['sk-', 'ABCDEF1234567890'].join('');
const OTHER = ['sk-', 'ABCDEF1234567891'].join('');

const EMPLOYEE = {
  id: 'acme.employee_number',
  pattern: '\\bEMP-\\d{6}\\b',
  tags: ['internal.staff'],
  severity: 'medium',
  description: 'Numbers of our staff.',
  examples: { hits: ['ask «EMP-123456».'] },
};
const STAFF = { name: 'staff', boundary: 'input', data_tags: ['internal.staff'], action: 'redact' };

let service: TestService;
let base: Record<string, unknown> = {};
before(async () => {
  service = await startTestService({ keep: true, workers: 2 });
  base = { server: { port: service.port, workers: 2 } };
});
after(async () => {
  await service.stop();
  rmSync(service.dir, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function post(path: string, body: unknown): Promise<Answer> {
  const operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operator}` },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** Sends enough requests that both workers answer, and returns their common answer. */
async function scan(text: string): Promise<Record<string, unknown>> {
  const answers = await Promise.all(Array.from({ length: 8 }, () => post('/v1/scan/input', { text })));
  const decisions = new Set(answers.map(({ body }) => body.decision));
  assert.equal(decisions.size, 1, 'all workers decide alike');
  return answers[0]!.body;
}

async function reloadWith(config: Record<string, unknown>): Promise<Answer> {
  writeFileSync(join(service.dir, 'service.yaml'), stringify({ ...base, ...config }));
  return post('/v1/policies/reload', {});
}

test('a pattern is active after a reload, and one with a mistake changes nothing', async () => {
  assert.equal((await scan('Ask EMP-123456')).decision, 'allow');
  const good = await reloadWith({ policies: [STAFF], detection: { patterns: [EMPLOYEE] } });
  assert.equal(good.status, 200, JSON.stringify(good.body));
  assert.equal(
    (await scan('Ask EMP-123456, not EMP-1234567')).modified_text,
    'Ask [REDACTED], not EMP-1234567',
  );
  const patterns = [{ ...EMPLOYEE, pattern: '\\d{6}' }];
  const bad = await reloadWith({ detection: { patterns, detectors: { api_kye: { enabled: false } } } });
  assert.notEqual(bad.status, 200);
  assert.match(JSON.stringify(bad.body), /did you mean `api_key`/);
  assert.match(JSON.stringify(bad.body), /3 or more fixed characters in a row/);
  assert.equal((await scan('Ask EMP-123456')).decision, 'modify', 'what was there stays');
  assert.equal((await scan(KEY)).decision, 'block');
});

test('switches and settings are active after a reload', async () => {
  await reloadWith({ detection: { detectors: { 'generic.sk_key': { enabled: false } } } });
  assert.equal((await scan(KEY)).decision, 'allow');
  assert.equal((await scan('My SSN is 536-22-8145.')).decision, 'modify');
  await reloadWith({});
  assert.equal((await scan(KEY)).decision, 'block');
});

test('a value is allowlisted by its fingerprint, which no answer reveals', async () => {
  writeFileSync(join(service.dir, 'key.txt'), `${KEY}\n`);
  const add = 'fingerprint add --reason "a test" --owner ops --expires 30d --json < key.txt';
  const command = ['sh', '-c', `"${join(root, 'service')}" ${add}`];
  const made = await runProgram(command, { cwd: service.dir, env: ownNodeEnvironment() });
  assert.equal(made.code, 0, made.stderr);
  assert.ok(!`${made.stdout}${made.stderr}`.includes(KEY));
  const { entry } = JSON.parse(made.stdout) as { entry: { fingerprint: string } };
  const reloaded = await reloadWith({ detection: { allowlist: [entry] } });
  assert.equal(reloaded.status, 200, JSON.stringify(reloaded.body));
  const allowed = await scan(`Use ${KEY}`);
  assert.deepEqual([allowed.decision, allowed.violations], ['allow', []]);
  assert.ok(!JSON.stringify(allowed).includes(entry.fingerprint));
  assert.equal((await scan(`Use ${OTHER}`)).decision, 'block');
  const { body } = await post('/v1/audit/query', { event_id: allowed.event_id });
  const [event] = body.events as { metadata: Record<string, unknown> }[];
  assert.deepEqual(event?.metadata.allowlisted_fingerprints, [entry.fingerprint]);
  assert.ok(!JSON.stringify(event).includes(KEY));

  rmSync(join(service.state_dir, 'fingerprint-key'));
  const keyless = await reloadWith({ detection: { allowlist: [entry], patterns: [EMPLOYEE] } });
  assert.notEqual(keyless.status, 200);
  assert.match(JSON.stringify(keyless.body), /needs the key of its fingerprints/);
  assert.equal((await scan(`Use ${KEY}`)).decision, 'allow', 'what was there stays');
});

test('a service whose list has no key does not start', async () => {
  const fingerprint = `hmac-sha256:${'0'.repeat(64)}`;
  const allowlist = [{ fingerprint, reason: 'r', owner: 'o', expires_at: '2099-01-01' }];
  await assert.rejects(startTestService({ config: { detection: { allowlist } } }), /fingerprint-key/);
});
