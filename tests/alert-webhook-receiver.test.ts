/** The example receiver as a process of its own, with messages that the alert channel sends. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import type { AlertMessage } from '../src/drivers/alerts/channel.ts';
import { buildAlertMessage } from '../src/drivers/alerts/testing/message.ts';
import { testEnvironment, withReceiver } from '../src/drivers/alerts/testing/receiver.ts';
import { webhookChannel } from '../src/drivers/alerts/webhook.ts';
import { ownNodeEnvironment, root, runProgram } from './support/checkout.ts';

const folder = join(root, 'examples/alert-webhook-receiver');
const SECRET = ['receiver-secret', '5d41-77aa'].join('-');
const SIGNAL = AbortSignal.timeout(60_000);

const receiver = spawn(process.execPath, ['server.js'], {
  cwd: folder,
  env: { ...ownNodeEnvironment(), ALERT_SECRET: SECRET, PORT: '0' },
  stdio: ['ignore', 'pipe', 'pipe'],
});
const printed: string[] = [];
const refused: string[] = [];
let url = '';

before(async () => {
  createInterface(receiver.stderr).on('line', (line) => refused.push(line));
  const lines = createInterface(receiver.stdout);
  const [first] = (await once(lines, 'line')) as [string];
  url = `http://127.0.0.1:${first.split(' ').at(-1)}/`;
  lines.on('line', (line) => printed.push(line));
});
after(() => receiver.kill());

async function send(message: AlertMessage, secret = SECRET, shiftMs = 0) {
  const settings = { url, secret, timeout_ms: 5_000, allow_link_local: false };
  const environment = { ...testEnvironment, now_ms: () => Date.now() + shiftMs };
  const channel = webhookChannel.open(settings, environment);
  const result = await channel.send(message, SIGNAL);
  await channel.close();
  return result;
}

test('the receiver takes what the channel sends, once', async () => {
  const message = buildAlertMessage({ delivery_id: 'dlv_a' });
  assert.deepEqual(await send(message), { sent: true });
  assert.deepEqual(await send(message), { sent: true }, 'a second attempt of the same delivery');
  assert.deepEqual(await send(buildAlertMessage({ delivery_id: 'dlv_b', kind: 'resolve' })), { sent: true });
  const types = () => printed.map((line) => JSON.parse(line).type);
  while (printed.length < 2) await new Promise((soon) => setTimeout(soon, 10));
  assert.deepEqual(types(), ['alert.trigger', 'alert.resolve']);
});

test('the receiver refuses a stale timestamp, a changed body, another secret and a replay', async () => {
  const count = printed.length;
  for (const shiftMs of [-301_000, 301_000]) {
    const result = await send(buildAlertMessage({ delivery_id: 'dlv_c' }), SECRET, shiftMs);
    assert.ok(!result.sent && result.permanent, JSON.stringify(result));
  }
  const other = await send(buildAlertMessage({ delivery_id: 'dlv_c' }), `${SECRET}-x`);
  assert.ok(!other.sent && /HTTP 401/.test(other.reason));

  const recorded = await withReceiver(
    (response) => void response.writeHead(200).end(),
    async (elsewhere) => {
      const settings = { url: elsewhere.url, secret: SECRET, timeout_ms: 5_000, allow_link_local: false };
      const channel = webhookChannel.open(settings, { ...testEnvironment, now_ms: Date.now });
      await channel.send(buildAlertMessage({ delivery_id: 'dlv_d' }), SIGNAL);
      await channel.close();
      return elsewhere.requests[0]!;
    },
  );
  const headers = Object.fromEntries(
    Object.entries(recorded.headers).filter(([name]) => name.startsWith('webhook-')),
  ) as Record<string, string>;
  const post = async (body: string) => (await fetch(url, { method: 'POST', headers, body })).status;
  assert.equal(await post(recorded.body.replace('"count":5', '"count":6')), 401);
  assert.equal(await post(recorded.body), 204);
  assert.equal(await post(recorded.body), 200, 'the recorded request again');
  while (printed.length < count + 1) await new Promise((soon) => setTimeout(soon, 10));
  assert.equal(printed.length, count + 1);
  assert.equal(refused.length, 4);
});

test('the example passes its own tests', async () => {
  const { code, stdout } = await runProgram([process.execPath, '--test'], {
    cwd: folder,
    env: ownNodeEnvironment(),
  });
  assert.equal(code, 0, stdout);
  assert.match(stdout, /pass 3/);
});
