/** Alerts of the real program: over a crash, and links to approval requests. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestService, type TestService } from './support/service.ts';

interface Received {
  readonly id: string;
  readonly kind: string;
  readonly alert_id: string;
  readonly approval: { readonly url: string } | null;
}

/** A receiver of webhooks that keeps what it got, and answers only if it is told to. */
async function openReceiver(t: { after: (end: () => void) => void }) {
  const received: Received[] = [];
  const state = { answers: false };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { data } = JSON.parse(body) as { data: Omit<Received, 'id'> };
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

async function until(holds: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await holds())) {
    assert.ok(performance.now() < end, 'nothing came in time');
    await sleep(100);
  }
}

function block(service: TestService): Promise<Response> {
  return fetch(`${service.url}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'Use key sk-ABCDEF1234567890' }),
  });
}

const operatorOf = ({ state_dir }: TestService) => ({
  authorization: `Bearer ${readFileSync(join(state_dir, 'operator-token'), 'utf8').trim()}`,
});

async function list(service: TestService, path: string) {
  const headers = { 'x-service-user': 'admin' };
  const answer = await fetch(`${service.url}/v1/dashboard/alerts/${path}`, { headers });
  assert.equal(answer.status, 200);
  // biome-ignore lint/suspicious/noExplicitAny: answers of several operations.
  return (await answer.json()) as any;
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
  await until(async () => (await list(second, 'deliveries?status=sent')).deliveries.length === 1);
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 1, 'every attempt has the same id');
  const { alerts } = await list(second, 'history');
  assert.deepEqual(
    alerts.map(({ rule_id, count, status }: Record<string, unknown>) => [rule_id, count, status]),
    [['secrets', 2, 'firing']],
  );
  await block(second);
  await until(async () => (await list(second, 'history')).alerts[0].count === 3);
  assert.equal((await list(second, 'history')).count, 1);
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
    const answer = await fetch(`${service.url}/v1/approvals/${request_id}`, { headers: operatorOf(service) });
    return ((await answer.json()) as { status: string }).status;
  };
  assert.equal(await show(), 'pending');
  // Once it is decided, the alert ends, and the receiver is told.
  await fetch(`${service.url}/v1/approvals/${request_id}/deny`, {
    method: 'POST',
    headers: { ...operatorOf(service), 'content-type': 'application/json' },
    body: '{}',
  });
  await until(() => receiver.received.some(({ kind }) => kind === 'resolve'));
  assert.equal(new Set(receiver.received.map(({ alert_id }) => alert_id)).size, 1);
});
