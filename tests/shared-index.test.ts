/** Two real services, each with two workers and a state folder, on one PostgreSQL; and a service without an index. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { MAIN_FILE } from '../src/entry/cli/testing/main-file.ts';
import {
  explainMissingPostgres,
  type PostgresServer,
  startPostgres,
} from '../src/platform/store/testing/postgres-server.ts';
import { runProgram } from './support/checkout.ts';
import { startTestService, type TestService } from './support/service.ts';
import { openReader } from './support/stream.ts';
import { until } from './support/until.ts';

const CARD = ['4111', '1111', '1111', '1111'].join(' ');
const KEY = ['AKIA', 'Q3EGRIZ7V4KJXW2A'].join('');

function readCredential({ state_dir }: TestService): Readonly<Record<string, string>> {
  const token = readFileSync(join(state_dir, 'operator-token'), 'utf8').trim();
  return { authorization: `Bearer ${token}` };
}

async function call(service: TestService, path: string, body?: object) {
  const { url } = service;
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      connection: 'close',
      ...readCredential(service),
      'x-service-user': 'admin',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of several operations.
  return { status: answer.status, body: (await answer.json()) as any };
}

/** Decides on some inputs of an agent, each on a connection for itself, so that both workers take some. */
async function decide(service: TestService, agentId: string, count: number, text: string): Promise<void> {
  for (let at = 0; at < count; at++) {
    const context = { session_id: 'shared-session' };
    const { status } = await call(service, '/v1/scan/input', { text, agent_id: agentId, context });
    assert.equal(status, 200);
  }
}

async function runCommand({ dir }: TestService, ...words: readonly string[]) {
  return runProgram([process.execPath, MAIN_FILE, ...words], { cwd: dir });
}

async function verify(service: TestService) {
  const { body } = await call(service, '/v1/dashboard/audit/verify', {});
  let job = body;
  await until(async () => {
    job = (await call(service, `/v1/dashboard/audit/jobs/${body.job_id}`)).body;
    return job.state !== 'running';
  });
  return job;
}

/** Returns the decisions of a stream. Events of the services, such as those of a verification, come at any time. */
function listOfAgents({ events }: Awaited<ReturnType<typeof openReader>>) {
  return events.filter(({ agent_id }) => agent_id.endsWith('-bot'));
}

describe('two services on one index', { skip: explainMissingPostgres() ?? false }, () => {
  let server: PostgresServer;
  let services: [TestService, TestService];
  before(async () => {
    server = await startPostgres();
    const config = {
      storage: { url: await server.makeDatabase() },
      audit: { index: 'postgres' },
      alerts: { rules: [{ rule_id: 'secrets', name: 'Secrets', threshold: 2 }] },
    };
    const first = await startTestService({ config, workers: 2 });
    services = [first, await startTestService({ config, workers: 2 })];
    await decide(first, 'first-bot', 6, 'What is the weather like in Lisbon?');
    await decide(first, 'first-bot', 2, `my key is ${KEY}`);
    await decide(services[1], 'second-bot', 4, `the card is ${CARD}`);
  });
  after(async () => {
    for (const service of services) await service.stop();
    await server.remove();
  });

  /** Waits until a service sees what the other one has decided, which takes half a second. */
  const seesAll = (service: TestService) =>
    until(async () => {
      const { body } = await call(service, '/v1/audit/query', { session_id: 'shared-session', limit: 100 });
      return body.count === 12;
    });

  test('either one answers about the decisions of both', async () => {
    for (const service of services) {
      await seesAll(service);
      const { body: overview } = await call(service, '/v1/dashboard/overview?last=1h');
      const agents = overview.top.agents.map(({ value, name }: Record<string, string>) => value ?? name);
      assert.ok(agents.includes('first-bot') && agents.includes('second-bot'), JSON.stringify(overview.top));
      const { body: sessions } = await call(service, '/v1/dashboard/observe/sessions');
      assert.equal(sessions.sessions.length, 1, JSON.stringify(sessions));
      assert.deepEqual([...sessions.sessions[0].agent_ids].sort(), ['first-bot', 'second-bot']);
      const { body: incidents } = await call(service, '/v1/dashboard/incidents');
      assert.equal(incidents.events.length, 6);
      const { body: activity } = await call(service, '/v1/dashboard/events/query', {
        agent_id: 'second-bot',
      });
      assert.equal(activity.events.length, 4);
      const { stdout } = await runCommand(service, 'logs', '--agent', 'first-bot', '--json');
      assert.equal(stdout.trim().split('\n').length, 8);
      const report = await call(service, '/v1/dashboard/compliance/report', {
        framework: 'hipaa',
        last: '1h',
      });
      assert.equal(report.status, 200, JSON.stringify(report.body));
    }
  });

  test('alerts count each event once', async () => {
    const history = async (service: TestService) =>
      (await call(service, '/v1/dashboard/alerts/history')).body.alerts.map(
        ({ rule_id, count }: Record<string, unknown>) => [rule_id, count],
      );
    await until(async () => (await history(services[0]))[0]?.[1] >= 6);
    const rows = (await history(services[1])) as [string, number][];
    assert.deepEqual(rows, [['secrets', 6]]);
  });

  test('each one verifies its journal with what the index remembers', async () => {
    for (const service of services) {
      const job = await verify(service);
      assert.deepEqual([job.state, job.verification?.intact], ['done', true], JSON.stringify(job));
      const { code, stdout } = await runCommand(service, 'audit', 'verify');
      assert.equal(code, 0, stdout);
    }
  });

  test('a stream continues on the other service when one is gone', async () => {
    const [first, second] = services;
    const reader = await openReader(first.url, '', { headers: readCredential(first) });
    await decide(second, 'second-bot', 1, 'hello');
    await decide(first, 'first-bot', 1, 'hello');
    await until(() => listOfAgents(reader).length === 2, 'the stream has the events of both');
    const [seen, next] = listOfAgents(reader);
    reader.close();
    await first.kill('SIGKILL');
    const resumed = await openReader(second.url, `?after=${seen!.event_id}`, {
      headers: readCredential(second),
    });
    await until(() => listOfAgents(resumed).length > 0);
    assert.equal(listOfAgents(resumed)[0]!.event_id, next!.event_id);
    await decide(second, 'third-bot', 1, 'hello');
    await until(() => listOfAgents(resumed).length === 2);
    assert.equal(listOfAgents(resumed)[1]!.agent_id, 'third-bot');
    resumed.close();
    const { body } = await call(second, '/v1/audit/query', { agent_id: 'first-bot', limit: 100 });
    assert.equal(body.count, 9, 'the events of the service that is gone stay');
  });
});

test('without an index queries say so, and the journal works', async (t) => {
  const service = await startTestService({ config: { audit: { index: 'off' } }, workers: 2 });
  t.after(() => service.stop());
  await decide(service, 'first-bot', 3, 'hello');
  await decide(service, 'first-bot', 1, `my key is ${KEY}`);
  const refused = [
    await call(service, '/v1/audit/query', {}),
    await call(service, '/v1/dashboard/overview'),
    await call(service, '/v1/dashboard/observe/sessions'),
    await call(service, '/v1/dashboard/incidents'),
    await call(service, '/v1/dashboard/compliance/report', { framework: 'hipaa', last: '1h' }),
    await call(service, '/v1/events'),
  ];
  for (const { status, body } of refused) {
    assert.equal(status, 503, JSON.stringify(body));
    assert.equal(body.code, 'not_configured', JSON.stringify(body));
    assert.match(JSON.stringify(body), /`audit\.index` is `off`/);
  }
  assert.equal((await fetch(`${service.url}/v1/ready`)).status, 200);
  assert.deepEqual((await verify(service)).verification?.intact, true);
  const verified = await runCommand(service, 'audit', 'verify');
  assert.equal(verified.code, 0, verified.stderr);
  const exported = await runCommand(service, 'audit', 'export', '--agent', 'first-bot');
  assert.equal(exported.code, 0, exported.stderr);
  const events = exported.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    events.map(({ decision }) => decision),
    ['allow', 'allow', 'allow', 'block'],
  );
  const narrowed = await runCommand(service, 'audit', 'export', '--decision', 'block', '--format', 'csv');
  assert.equal(narrowed.stdout.trim().split('\r\n').length, 2);
  const logs = await runCommand(service, 'logs');
  assert.notEqual(logs.code, 0);
  assert.match(logs.stderr, /`audit\.index` is `off`/);
});
