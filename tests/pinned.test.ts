/** The examples of the interface, word for word, over HTTP and with two workers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestService, type TestService } from './support/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService({ workers: 2 });
});
after(() => service.stop());

async function post(path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200);
  return (await answer.json()) as Record<string, unknown>;
}

const key = ['sk-', 'ABCDEF1234567890'].join('');
const url = ['postgresql://admin:', 'p4ssw0rd@db.internal:5432/prod'].join('');

test('a key in an input blocks, with one violation that shows the match', async () => {
  const answer = await post('/v1/scan/input', { text: `Use key ${key}` });
  assert.equal(answer.decision, 'block');
  const violations = answer.violations as Record<string, unknown>[];
  assert.equal(violations.length, 1);
  const { type, detector, severity, match } = violations[0]!;
  assert.deepEqual(
    { type, detector, severity, match },
    { type: 'secret_detected', detector: 'api_key', severity: 'critical', match: key },
  );
  assert.equal(answer.modified_text, undefined);
});

test('a connection string in an output is taken out whole', async () => {
  const answer = await post('/v1/guard/output', { text: `Here is the config: DATABASE_URL=${url}` });
  assert.equal(answer.decision, 'modify');
  assert.equal(answer.modified_text, 'Here is the config: DATABASE_URL=[REDACTED]');
  const violations = answer.violations as Record<string, unknown>[];
  assert.deepEqual(
    violations.map((violation) => violation.detector),
    ['connection_string'],
  );
  assert.ok(violations.every((violation) => !('match' in violation)));
  assert.ok(Number.isInteger(answer.scan_duration_ms));
});

test('a social security number in an input is masked', async () => {
  const answer = await post('/v1/scan/input', { text: 'My SSN is 536-22-8145, please file it.' });
  assert.equal(answer.decision, 'modify');
  const violations = answer.violations as Record<string, unknown>[];
  assert.deepEqual(
    violations.map(({ type, detector, severity }) => ({ type, detector, severity })),
    [{ type: 'pii_detected', detector: 'ssn', severity: 'high' }],
  );
  assert.equal(answer.modified_text, 'My SSN is [REDACTED], please file it.');
});

test('ordinary text is allowed, and says so', async () => {
  const answer = await post('/v1/scan/input', { text: 'What is the weather like in Lisbon?' });
  assert.equal(answer.decision, 'allow');
  assert.equal(answer.action, 'allow');
  assert.equal(answer.rule, 'default.allow');
  assert.deepEqual(answer.violations, []);
  assert.equal(answer.coverage, 'full');
  assert.match(String(answer.event_id), /^evt_[0-9a-f]{24}$/);
});
