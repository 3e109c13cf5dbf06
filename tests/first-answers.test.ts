/** The first requests after a start: the port opens when everything that answers them is open. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openApiClient } from './support/api-client.ts';
import { freePort, startTestService, type TestService } from './support/service.ts';

const dir = mkdtempSync(join(tmpdir(), 'first-answers-'));
after(() => rmSync(dir, { recursive: true, force: true }));

const CONFIG = {
  dashboard: { users: [{ user_id: 'root', role: 'admin', tenants: ['*'] }] },
  policies: [
    { name: 'ask', boundary: 'action', condition: { tools: ['refund'] }, action: 'require_approval' },
  ],
};
const TEXT = 'Write to jane.doe@corp-mail.io today.';
const REQUESTS: readonly (readonly [path: string, body: object | null])[] = [
  ['/v1/guard/output', { text: TEXT }],
  ['/v1/guard/output', { text: TEXT, session_id: 'first' }],
  ['/v1/intercept/tool', { tool: 'refund', input: { n: 1 }, agent_id: 'a', session_id: 's' }],
  ['/v1/audit/query', {}],
  ['/v1/dashboard/policies/document', null],
  ['/v1/ready', null],
  ['/v1/health', null],
];

interface FirstAnswer {
  readonly path: string;
  readonly status: number;
  readonly decision: unknown;
}

/** Starts the service and sends requests from before it listens until it is ready. Returns all answers. */
async function askFromTheStart(): Promise<{ service: TestService; answers: readonly FirstAnswer[] }> {
  const port = await freePort();
  const config = { ...CONFIG, server: { port, workers: 2 } };
  const answers: FirstAnswer[] = [];
  const ask = async ([path, body]: (typeof REQUESTS)[number]) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { 'content-type': 'application/json', 'x-service-user': 'root' },
      ...(body !== null && { method: 'POST', body: JSON.stringify(body) }),
    }).catch(() => null);
    if (answer === null) return;
    const { decision } = (await answer.json()) as { decision?: unknown };
    answers.push({ path, status: answer.status, decision });
  };
  let isStarted = false;
  const starting = startTestService({ dir, config, keep: true }).finally(() => {
    isStarted = true;
  });
  while (!isStarted) await Promise.all(REQUESTS.map(ask));
  return { service: await starting, answers };
}

function assertAnswered(answers: readonly FirstAnswer[], decision: string): void {
  const decisions = answers.filter(({ path }) => path === '/v1/guard/output');
  assert.ok(decisions.length > 0);
  assert.deepEqual(
    answers.filter(({ status }) => status !== 200),
    [],
  );
  assert.deepEqual([...new Set(decisions.map((each) => each.decision))], [decision]);
}

test('the first answers of a new folder are complete, and those of a restart follow the store', async () => {
  const first = await askFromTheStart();
  const text = `policies:\n  - {name: no-mail, boundary: output, data_tags: [personal.pii.email], action: block}\n`;
  try {
    assertAnswered(first.answers, 'modify');
    const call = openApiClient(first.service);
    const saved = await call('/v1/dashboard/policies/document', { method: 'PUT', body: { text } });
    assert.equal(saved.status, 200, JSON.stringify(saved.body));
  } finally {
    await first.service.stop();
  }
  const copy = join(first.service.state_dir, 'managed-policy.json');
  const stored = readFileSync(copy, 'utf8');
  assert.match(stored, /action: block/);
  // The same version with another text, as after a restored backup.
  writeFileSync(copy, stored.replace('action: block', 'action: allow'));
  const second = await askFromTheStart();
  try {
    assertAnswered(second.answers, 'block');
  } finally {
    await second.service.stop();
  }
});
