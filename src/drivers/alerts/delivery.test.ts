/** The outcome of a delivery for each answer of a receiver, and for none. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeCertificate } from '../../platform/net/testing/certificate.ts';
import type { AlertChannel, ChannelEnvironment, DeliveryResult } from './channel.ts';
import { alertChannelDrivers } from './index.ts';
import { buildAlertMessage } from './testing/message.ts';
import { testEnvironment, withReceiver } from './testing/receiver.ts';
import { webhookChannel } from './webhook.ts';

const SIGNAL = AbortSignal.timeout(120_000);
const SECRET = ['path-secret', '5d41'].join('-');
const ANSWER = ['answer-marker', '77aa'].join('-');
const HTTP_CHANNELS = ['chat-webhook', 'discord', 'incident', 'paging', 'teams', 'webhook'];

const openChannel = (name: string, url: string, timeoutMs = 5_000, environment = testEnvironment) => {
  const driver = alertChannelDrivers.find((each) => each.name === name)!;
  const open = driver.open as unknown as (section: object, environment: ChannelEnvironment) => AlertChannel;
  const settings = {
    ...{ url, base_url: url, timeout_ms: timeoutMs, allow_link_local: false },
    ...{ region: 'us', api_key: SECRET, routing_key: SECRET, secret: SECRET },
  };
  return open(settings, environment);
};

const trusted = makeCertificate(['localhost', '127.0.0.1']);
const otherName = makeCertificate(['other.example']);
const expired = makeCertificate(['localhost'], Date.now() - 100 * 3_600_000);
const unknown = makeCertificate(['localhost']);
const beforeTests = getCACertificates('default');
before(() => setDefaultCACertificates([...beforeTests, trusted.cert, otherName.cert, expired.cert]));
after(() => setDefaultCACertificates(beforeTests));

/** Sends one message to a receiver that answers in one way. The result never repeats a credential or the answer. */
async function sendTo(
  name: string,
  respond: (response: ServerResponse) => void,
  certificate?: typeof trusted,
  timeoutMs?: number,
): Promise<DeliveryResult> {
  const result = await withReceiver(
    respond,
    async ({ url }) => {
      const channel = openChannel(name, `${url}/${SECRET}`, timeoutMs);
      const sent = await channel.send(buildAlertMessage(), SIGNAL);
      await channel.close();
      return sent;
    },
    certificate,
  );
  assert.doesNotMatch(JSON.stringify(result), new RegExp(`${SECRET}|${ANSWER}|localhost`));
  return result;
}

const answer =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(ANSWER);

test('every channel that posts is tested here', () => {
  const names = alertChannelDrivers
    .map(({ name }) => name)
    .filter((name) => name !== 'file' && name !== 'email');
  assert.deepEqual(names, HTTP_CHANNELS);
});

for (const name of HTTP_CHANNELS) {
  test(`${name}: statuses`, async () => {
    const outcomes: Record<number, 'sent' | 'later' | 'never'> = {
      ...{ 200: 'sent', 202: 'sent', 204: 'sent', 301: 'never', 302: 'never', 307: 'never' },
      ...{ 400: 'never', 401: 'never', 403: 'never', 404: 'never', 410: 'never', 413: 'never' },
      ...{ 408: 'later', 425: 'later', 429: 'later', 500: 'later', 502: 'later', 503: 'later' },
    };
    for (const [status, expected] of Object.entries(outcomes)) {
      const result = await sendTo(name, answer(Number(status), { location: '/elsewhere' }));
      const outcome = result.sent ? 'sent' : result.permanent ? 'never' : 'later';
      assert.equal(outcome, expected, status);
      if (!result.sent) assert.match(result.reason, new RegExp(`HTTP ${status}`));
    }
    assert.equal(Object.keys(outcomes).length, 18);
  });

  test(`${name}: \`Retry-After\` in both forms`, async () => {
    const nowMs = testEnvironment.now_ms();
    const cases: readonly (readonly [string, number | undefined])[] = [
      ['7', 7_000],
      ['0.5', 500],
      [new Date(nowMs + 90_000).toUTCString(), 90_000],
      [new Date(nowMs - 90_000).toUTCString(), 0],
      ['99999999', 3_600_000],
      ['soon', undefined],
      ['-1', 0],
      ['9'.repeat(300), undefined],
    ];
    for (const [header, expected] of cases) {
      const result = await sendTo(name, answer(429, { 'retry-after': header }));
      assert.ok(!result.sent && !result.permanent);
      if (header !== '-1') assert.equal(result.retry_after_ms, expected, header);
    }
    const none = await sendTo(name, answer(503));
    assert.ok(!none.sent && none.retry_after_ms === undefined);
  });

  test(`${name}: a receiver that hangs, drips, closes, or answers a gigabyte`, async () => {
    const hangs = await sendTo(name, () => {}, undefined, 200);
    assert.deepEqual(hangs, { sent: false, reason: 'It did not answer in time.', permanent: false });
    const closes = await sendTo(name, (response) => void response.destroy());
    assert.ok(!closes.sent && !closes.permanent);
    assert.match(closes.reason, /could not be reached/);
    // The status counts. Nothing of the body is read, however long it is.
    let written = 0;
    const chunk = Buffer.alloc(1_048_576, 'x');
    const big = await sendTo(name, (response) => {
      response.writeHead(200);
      const more = (): void => {
        while (written < 1_024 && !response.destroyed) {
          written += 1;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
      };
      more();
    });
    assert.deepEqual(big, { sent: true });
    assert.ok(written < 256, `${written} MiB were taken`);
    const drips = await sendTo(name, (response) => {
      response.writeHead(500).write('x');
    });
    assert.ok(!drips.sent && /HTTP 500/.test(drips.reason));
  });

  test(`${name}: TLS, and certificates that are not valid`, async () => {
    assert.deepEqual(await sendTo(name, answer(200), trusted), { sent: true });
    for (const certificate of [otherName, expired, unknown]) {
      const result = await sendTo(name, answer(200), certificate);
      assert.ok(!result.sent && !result.permanent);
      assert.match(result.reason, /^Its TLS certificate is not valid \([A-Z_]+\)\.$/);
    }
  });

  test(`${name}: addresses that are refused or lead nowhere`, async () => {
    const cases: readonly (readonly [string, RegExp, boolean])[] = [
      ['http://169.254.169.254/latest', /link-local/, true],
      ['http://[fe80::1]/', /link-local/, true],
      ['http://0xa9fea9fe/', /link-local/, true],
      ['http://metadata.google.internal./x', /link-local/, true],
      ['file:///etc/passwd', /cannot be called/, true],
      ['no address', /cannot be called/, true],
      ['http://127.0.0.1:1/', /ECONNREFUSED/, false],
      ['http://no-such-host.invalid/', /could not be reached/, false],
    ];
    for (const [url, reason, permanent] of cases) {
      const channel = openChannel(name, url);
      const result = await channel.send(buildAlertMessage(), SIGNAL);
      await channel.close();
      assert.ok(!result.sent, url);
      assert.match(result.reason, reason, url);
      assert.equal(result.permanent, permanent, url);
    }
  });
}

test('an aborted delivery and a closed channel end at once', async () => {
  await withReceiver(
    () => {},
    async ({ url }) => {
      const channel = openChannel('webhook', url, 60_000);
      const abort = new AbortController();
      const sending = channel.send(buildAlertMessage(), abort.signal);
      abort.abort();
      assert.deepEqual(await sending, {
        sent: false,
        reason: 'It did not answer in time.',
        permanent: false,
      });
      const closing = channel.send(buildAlertMessage(), SIGNAL);
      await new Promise((soon) => setTimeout(soon, 50));
      await channel.close();
      assert.equal((await closing).sent, false);
    },
  );
});

test('messages go through the proxy of the environment, except to the addresses that it leaves out', async () => {
  const targets: string[] = [];
  const proxy = createServer((request, response) => {
    targets.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => response.writeHead(204).end());
  });
  proxy.on('connect', (request, socket) => {
    targets.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  proxy.listen(0, '127.0.0.1');
  await new Promise((listening) => proxy.once('listening', listening));
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const env = { HTTP_PROXY: address, https_proxy: address, NO_PROXY: 'localhost' };
  const send = async (url: string) => {
    const channel = openChannel('webhook', url, 5_000, { ...testEnvironment, env });
    const result = await channel.send(buildAlertMessage(), SIGNAL);
    await channel.close();
    return result;
  };
  try {
    assert.deepEqual(await send('http://hooks.example/a'), { sent: true });
    const refused = await send('https://hooks.example/b');
    assert.ok(!refused.sent && !refused.permanent);
    for (const url of ['http://169.254.169.254/', 'http://metadata.google.internal/'])
      assert.match(JSON.stringify(await send(url)), /link-local/);
    assert.deepEqual(targets, ['POST http://hooks.example/a', 'CONNECT hooks.example:443']);
    await withReceiver(answer(200), async ({ url, requests }) => {
      assert.deepEqual(await send(url), { sent: true });
      assert.equal(requests.length, 1);
    });
    assert.equal(targets.length, 2);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});

test('a webhook with `allow_link_local` calls such an address, and others do not', async () => {
  const settings = { url: 'http://169.254.0.1:9/', timeout_ms: 300 };
  const results = [];
  for (const allowLinkLocal of [true, false]) {
    const channel = webhookChannel.open({ ...settings, allow_link_local: allowLinkLocal }, testEnvironment);
    results.push(await channel.send(buildAlertMessage(), SIGNAL));
    await channel.close();
  }
  assert.doesNotMatch(JSON.stringify(results[0]), /link-local/);
  assert.match(JSON.stringify(results[1]), /link-local/);
});
