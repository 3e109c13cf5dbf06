/** Alerts of the real program: over a crash, over HTTP with scopes, and links to approval requests. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

interface ReceivedAlert {
  readonly id: string;
  readonly kind: string;
  readonly alert_id: string;
  readonly approval: { readonly url: string } | null;
}

/** A receiver of webhooks that keeps what it got, and answers only while `answers` is set. */
async function openReceiver(t: { after: (end: () => void) => void }) {
  const received: ReceivedAlert[] = [];
  const state = { answers: false };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { data } = JSON.parse(body) as { data: Omit<ReceivedAlert, 'id'> };
      received.push({ ...data, id: String(request.headers['webhook-id']) });
      if (state.answers) response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

function block(service: TestService, tenantId = 'default'): Promise<Response> {
  return fetch(`${service.url}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'Use key sk-ABCDEF1234567890', tenant_id: tenantId }),
  });
}

const getOperator = ({ state_dir }: TestService) => ({
  authorization: `Bearer ${readFileSync(join(state_dir, 'operator-token'), 'utf8').trim()}`,
});

async function call(service: TestService, path: string, headers: object, body?: object) {
  const answer = await fetch(`${service.url}/v1/dashboard/alerts/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of several operations.
  const json = (await answer.json()) as any;
  return { status: answer.status, json };
}

const ENV = { HOOK_SECRET: 'a secret of this test' };
const hook = (url: string) => ({
  type: 'webhook',
  name: 'hook',
  url,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
  secret: '${HOOK_SECRET}',
  timeout_ms: 2_000,
});

test('a crash between an alert and its delivery loses and repeats none', async (t) => {
  const receiver = await openReceiver(t);
  const config = {
    alerts: {
      channels: [hook(receiver.url)],
      rules: [{ rule_id: 'secrets', name: 'Secrets', threshold: 2, channels: ['hook'] }],
    },
  };
  const first = await startTestService({ config, env: ENV, keep: true });
  await block(first);
  await block(first);
  await until(() => receiver.received.length > 0);
  // The receiver has it and has not answered: the outcome is not stored.
  await first.kill('SIGKILL');
  receiver.state.answers = true;
  const second = await startTestService({ config, env: ENV, dir: first.dir });
  t.after(() => second.stop());
  const operator = { 'x-service-user': 'admin' };
  await until(
    async () => (await call(second, 'deliveries?status=sent', operator)).json.deliveries.length === 1,
  );
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 1, 'every attempt has the same id');
  const { alerts } = (await call(second, 'history', operator)).json;
  assert.deepEqual(
    alerts.map(({ rule_id, count, status }: Record<string, unknown>) => [rule_id, count, status]),
    [['secrets', 2, 'firing']],
  );
  await block(second);
  await until(async () => (await call(second, 'history', operator)).json.alerts[0].count === 3);
  assert.equal((await call(second, 'history', operator)).json.count, 1);
});

test('rules and alerts are apart by tenant, and only people change them', async (t) => {
  const keys = { acme: 'acme-key-0123456789' };
  const sha256 = (key: string) => createHash('sha256').update(key).digest('hex');
  const service = await startTestService({
    config: {
      auth: {
        api_keys: [
          { id: 'acme', sha256: sha256(keys.acme), tenants: ['acme'], permissions: ['alerts:read', 'check'] },
        ],
      },
      dashboard: {
        users: [
          { user_id: 'root', role: 'admin', tenants: ['*'] },
          { user_id: 'ann', role: 'viewer', tenants: ['acme'] },
          { user_id: 'bob', role: 'billing' },
        ],
      },
    },
  });
  t.after(() => service.stop());
  const operator = getOperator(service);
  const acme = { authorization: `Bearer ${keys.acme}` };
  const admin = { 'x-service-user': 'root' };
  const ann = { 'x-service-user': 'ann' };
  const bob = { 'x-service-user': 'bob' };
  const rule = { name: 'Secrets', threshold: 1, group_by: ['tenant'] };
  assert.equal((await call(service, 'rules', operator, { ...rule, rule_id: 'all' })).status, 200);
  assert.equal(
    (await call(service, 'rules', operator, { ...rule, rule_id: 'own', tenant_id: 'acme' })).status,
    200,
  );
  for (const [headers, body, status] of [
    [acme, { ...rule, rule_id: 'mine', tenant_id: 'acme' }, 403],
    [operator, { ...rule, rule_id: 'bad', window: 'soon' }, 400],
    [operator, { ...rule, rule_id: 'bad', channels: ['nowhere'] }, 400],
    [operator, { ...rule, rule_id: 'bad', colour: 'red' }, 400],
    [
      operator,
      {
        ...rule,
        rule_id: 'bad',
        schedule: { time_zone: 'Mars/Base', quiet_hours: [{ from: '01:00', to: '02:00' }] },
      },
      400,
    ],
  ] as const)
    assert.equal((await call(service, 'rules', headers, body)).status, status, JSON.stringify(body));
  assert.equal((await call(service, 'rules', bob)).status, 403);
  assert.equal((await call(service, 'history', bob)).status, 403);
  await block(service, 'acme');
  await block(service, 'globex');
  await until(async () => (await call(service, 'history', admin)).json.count === 3);
  const seen = (await call(service, 'history', ann)).json.alerts;
  assert.deepEqual(
    seen.map(({ rule_id, tenant_ids }: Record<string, unknown>) => [rule_id, tenant_ids]).toSorted(),
    [
      ['all', ['acme']],
      ['own', ['acme']],
    ],
  );
  const { rules } = (await call(service, 'rules', ann)).json;
  assert.deepEqual(
    rules.map(({ rule_id }: { rule_id: string }) => rule_id),
    ['own'],
  );
  const globex = (await call(service, 'history', admin)).json.alerts.find(
    ({ tenant_ids }: { tenant_ids: string[] }) => tenant_ids[0] === 'globex',
  );
  assert.equal((await call(service, `history/${globex.alert_id}`, ann)).status, 404);
  assert.equal((await call(service, `history/${globex.alert_id}/resolve`, acme, {})).status, 403);
  const ended = await call(service, `history/${globex.alert_id}/resolve`, operator, {});
  assert.deepEqual([ended.status, ended.json.status, ended.json.resolved_by], [200, 'resolved', 'operator']);
  const again = await call(service, `history/${globex.alert_id}/resolve`, operator, {});
  assert.equal(again.status, 409);
});

test('a link in a message opens an approval request, and approves nothing', async (t) => {
  const receiver = await openReceiver(t);
  receiver.state.answers = true;
  const service = await startTestService({
    config: {
      alerts: {
        channels: [hook(receiver.url)],
        rules: [
          {
            rule_id: 'wait',
            name: 'Approvals wait',
            source: 'approvals_waiting',
            after: '1s',
            channels: ['hook'],
          },
        ],
      },
      policies: [
        {
          name: 'refunds',
          boundary: 'action',
          condition: { tools: ['refund'] },
          action: 'require_approval',
          reason: 'Ask.',
        },
      ],
    },
    env: ENV,
  });
  t.after(() => service.stop());
  const asked = await fetch(`${service.url}/v1/intercept/tool`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tool: 'refund', input: {}, agent_id: 'bot' }),
  });
  const { request_id } = ((await asked.json()) as { approval: { request_id: string } }).approval;
  await until(() => receiver.received.length > 0);
  const link = new URL(receiver.received[0]!.approval!.url);
  const open = (path: string) =>
    fetch(`${service.url}${path}`, {
      redirect: 'manual',
      headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    });
  const opened = await open(`${link.pathname}${link.search}`);
  assert.equal(opened.status, 303);
  assert.match(opened.headers.get('location') ?? '', new RegExp(`/dashboard/approvals/${request_id}$`));
  assert.equal((await open(`${link.pathname}?expires=1&signature=${'A'.repeat(43)}`)).status, 403);
  const show = async () => {
    const answer = await fetch(`${service.url}/v1/approvals/${request_id}`, {
      headers: getOperator(service),
    });
    return ((await answer.json()) as { status: string }).status;
  };
  assert.equal(await show(), 'pending');
  // Once it is decided, the alert ends, and the receiver gets another message.
  await fetch(`${service.url}/v1/approvals/${request_id}/deny`, {
    method: 'POST',
    headers: { ...getOperator(service), 'content-type': 'application/json' },
    body: '{}',
  });
  await until(() => receiver.received.some(({ kind }) => kind === 'resolve'));
  assert.equal(new Set(receiver.received.map(({ alert_id }) => alert_id)).size, 1);
});
