import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { openReceiver } from '../index.js';

const SECRET = 'a secret of this test';
const NOW_S = 1_795_000_000;
const BODY = JSON.stringify({ type: 'alert.trigger', data: { rule_id: 'r', summary: 's' } });

function sign(id, timestamp, body, secret = SECRET) {
  const hmac = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${hmac}` };
}

function open() {
  const alerts = [];
  const receive = openReceiver({
    secret: SECRET,
    onAlert: (message) => void alerts.push(message),
    now_ms: () => NOW_S * 1000,
  });
  return { alerts, receive: (headers, body) => receive(headers, Buffer.from(body)) };
}

test('a message is processed once, however often it is sent', async () => {
  const { alerts, receive } = open();
  const first = sign('dlv_1', NOW_S, BODY);
  assert.equal((await receive(first, BODY)).status, 204);
  assert.equal((await receive(first, BODY)).status, 200, 'the same request again');
  assert.equal((await receive(sign('dlv_1', NOW_S + 60, BODY), BODY)).status, 200, 'a later attempt');
  assert.equal((await receive(sign('dlv_2', NOW_S, BODY), BODY)).status, 204, 'another message');
  assert.equal(alerts.length, 2);
});

test('stale, changed and unsigned messages are refused', async () => {
  const { alerts, receive } = open();
  const good = sign('dlv_1', NOW_S, BODY);
  const cases = [
    [sign('dlv_1', NOW_S - 301, BODY), BODY, 400],
    [sign('dlv_1', NOW_S + 301, BODY), BODY, 400],
    [{ ...sign('dlv_1', NOW_S - 301, BODY), 'webhook-timestamp': String(NOW_S) }, BODY, 401],
    [good, BODY.replace('"r"', '"x"'), 401],
    [{ ...good, 'webhook-id': 'dlv_2' }, BODY, 401],
    [sign('dlv_1', NOW_S, BODY, 'another secret of a test'), BODY, 401],
    [{ ...good, 'webhook-signature': good['webhook-signature'].replace('v1,', 'v2,') }, BODY, 401],
    [{ ...good, 'webhook-signature': '' }, BODY, 400],
    [{}, BODY, 400],
  ];
  for (const [headers, body, status] of cases) assert.equal((await receive(headers, body)).status, status);
  assert.equal(alerts.length, 0);
  const rotated = { ...good, 'webhook-signature': `v1,AAAA ${good['webhook-signature']}` };
  assert.equal((await receive(rotated, BODY)).status, 204, 'one of several signatures is enough');
});

test('a message that could not be processed is not remembered', async () => {
  let fails = true;
  const receive = openReceiver({
    secret: SECRET,
    onAlert: () => {
      if (fails) throw new Error('no room');
    },
    now_ms: () => NOW_S * 1000,
  });
  const headers = sign('dlv_1', NOW_S, BODY);
  await assert.rejects(receive(headers, Buffer.from(BODY)));
  fails = false;
  assert.equal((await receive(headers, Buffer.from(BODY))).status, 204);
});
