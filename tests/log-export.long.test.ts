/** The audit log at a collector: sent by a real service, read by OpenTelemetry's own messages and the schema of OCSF. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { locateComponent } from '../scripts/components/components.ts';
import { getPrograms } from '../scripts/components/python.ts';
import { eventually } from './support/secrets/eventually.ts';
import { startTestService, type TestService } from './support/service.ts';

const TOKEN = 'collector-token-5cb1';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

interface Collector {
  readonly url: string;
  readonly bodies: string[];
  readonly tokens: Set<string | undefined>;
  /** The status of the next answers. */
  status: number;
}

async function startCollector(t: TestContext): Promise<Collector> {
  const bodies: string[] = [];
  const tokens = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    tokens.add(request.headers.authorization);
    if (collector.status === 200) bodies.push(body);
    const isOne = (body.match(/"timeUnixNano"/g) ?? []).length === 1;
    response
      .writeHead(collector.status === 400 && isOne && !body.includes('poison') ? 200 : collector.status)
      .end();
    if (collector.status === 400 && isOne && !body.includes('poison')) bodies.push(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    tokens,
    status: 200,
  };
  return collector;
}

async function startExporting(
  t: TestContext,
  collector: Collector,
  more: object = {},
  dir?: string,
): Promise<TestService> {
  const service = await startTestService({
    ...(dir !== undefined && { dir }),
    keep: true,
    env: { OTLP_TOKEN: TOKEN },
    config: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
      log_export: { endpoint: collector.url, headers: { authorization: '${OTLP_TOKEN}' }, ...more },
    },
  });
  t.after(async () => {
    await service.stop();
    rmSync(service.dir, { recursive: true, force: true });
  });
  return service;
}

async function decide(service: TestService, agent: string, command: string, tenant = 'acme'): Promise<void> {
  const answer = await fetch(`${service.url}/v1/intercept/tool`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      connection: 'close',
      traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`,
    },
    body: JSON.stringify({
      agent_id: agent,
      tenant_id: tenant,
      session_id: 's1',
      tool: 'bash',
      input: { command },
    }),
  });
  assert.equal(answer.status, 200);
}

interface Received {
  readonly traceId?: string;
  readonly severityText: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[];
}

function listRecords({ bodies }: Collector): readonly Received[] {
  return bodies.flatMap((body) =>
    JSON.parse(body).resourceLogs.flatMap((resource: { scopeLogs: readonly { logRecords: Received[] }[] }) =>
      resource.scopeLogs.flatMap(({ logRecords }) => logRecords),
    ),
  );
}

function readAttribute({ attributes }: Received, wanted: string): string | undefined {
  return attributes.find(({ key }) => key === wanted)?.value.stringValue;
}

const listAgents = (collector: Collector) =>
  listRecords(collector).map((record) => readAttribute(record, 'gen_ai.agent.id'));

function checkBodies(requests: string) {
  const words = [join(import.meta.dirname, 'support/ocsf/check.py')];
  return spawnSync(join(getPrograms('ocsf'), 'python'), words, { input: `${requests}\n`, encoding: 'utf8' });
}

/** Waits for the events of an agent. */
function untilReceived(collector: Collector, agent: string, count: number): Promise<void> {
  return eventually(async () =>
    assert.equal(listAgents(collector).filter((each) => each === agent).length, count),
  );
}

test('a collector receives every event once, as OTLP with OCSF bodies, without text', async (t) => {
  assert.ok(locateComponent('ocsf'), 'scripts/run scripts/components/main.ts ocsf');
  const collector = await startCollector(t);
  const service = await startExporting(t, collector);
  for (let index = 0; index < 3; index++) await decide(service, 'coder', `rm -rf / # plan-${index}`);
  await decide(service, 'reader', 'ls');
  await untilReceived(collector, 'coder', 3);
  await untilReceived(collector, 'reader', 1);
  const all = collector.bodies.join('\n');
  assert.doesNotMatch(all, /plan-|rm -rf/);
  assert.deepEqual([...collector.tokens], [TOKEN]);
  const [blocked] = listRecords(collector).filter(
    (each) => readAttribute(each, 'gen_ai.agent.id') === 'coder',
  );
  assert.deepEqual([blocked?.traceId, blocked?.severityText], [TRACE_ID, 'FATAL']);
  const checked = checkBodies(all);
  assert.equal(checked.status, 0, checked.stderr);
  for (const wrong of [
    all.replaceAll('"key":"class_uid"', '"key":"klass_uid"'),
    all.replaceAll('"key":"fingerprint"', '"key":"print"'),
    all.replaceAll('"timeUnixNano"', '"time"'),
  ])
    assert.equal(checkBodies(wrong).status, 1, 'the check refuses what is not in the schema');
  assert.equal(Number(checked.stdout), listRecords(collector).length);
});

test('events wait for a collector that is away, across a restart, and arrive once', async (t) => {
  const collector = await startCollector(t);
  const service = await startExporting(t, collector);
  await decide(service, 'before', 'ls');
  await untilReceived(collector, 'before', 1);
  collector.status = 503;
  await decide(service, 'meanwhile', 'ls');
  await eventually(async () => assert.match(service.logs(), /could not be exported and will be tried again/));
  assert.ok(!service.logs().includes(TOKEN));
  await service.kill('SIGKILL');
  const again = await startExporting(t, collector, {}, service.dir);
  collector.status = 200;
  await untilReceived(collector, 'meanwhile', 1);
  await decide(again, 'after', 'ls');
  await untilReceived(collector, 'after', 1);
  assert.equal(listAgents(collector).filter((each) => each === 'before').length, 1);
});

test('a refused event does not stop the others', async (t) => {
  const collector = await startCollector(t);
  const service = await startExporting(t, collector);
  await decide(service, 'first', 'ls');
  await untilReceived(collector, 'first', 1);
  collector.status = 400;
  await decide(service, 'poison', 'ls');
  await decide(service, 'healthy', 'ls');
  await untilReceived(collector, 'healthy', 1);
  await eventually(async () => {
    const metrics = await (await fetch(`${service.url}/v1/metrics`)).text();
    assert.match(metrics, /service_log_export_events_total\{outcome="refused"\} 1/);
  });
});

test('filters leave out other decisions and tenants', async (t) => {
  const collector = await startCollector(t);
  const service = await startExporting(t, collector, { decisions: ['block'], tenants: ['acme'] });
  await decide(service, 'allowed', 'ls');
  await decide(service, 'foreign', 'rm -rf /', 'globex');
  await decide(service, 'blocked', 'rm -rf /');
  await untilReceived(collector, 'blocked', 1);
  assert.deepEqual([...new Set(listAgents(collector))], ['blocked']);
});
