import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { isMetadataOrLinkLocalAddress } from '../../platform/net/guarded-lookup.ts';
import { type SignedMessage, signWebhook } from '../../platform/net/webhook-signature.ts';
import { deliverBatch, type OutboxParts } from '../../platform/outbox/deliver.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { buildApprovalQueue } from './outbox.ts';
import { openTestApprovals } from './testing/open.ts';
import { type ApprovalWebhook, postWebhook } from './webhook.ts';

const MESSAGE: SignedMessage = {
  message_id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp_s: 1_614_265_330,
  body: '{"test": 2432232314}',
};

const webhookAt = (url: string, more: Partial<ApprovalWebhook> = {}): ApprovalWebhook => ({
  url,
  secret: 'a secret of this test',
  timeout_ms: 1_000,
  max_attempts: 3,
  allow_link_local: false,
  ...more,
});

const deliverWebhooks = ({ webhook, ...parts }: OutboxParts & { readonly webhook: ApprovalWebhook }) =>
  deliverBatch(parts, buildApprovalQueue(webhook, parts.now_ms));

async function withReceiver<Result>(
  listener: RequestListener,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  try {
    return await work(`http://localhost:${(server.address() as AddressInfo).port}/hook`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('the signature is that of Standard Webhooks', () => {
  // The example of the specification.
  const secret = ['whsec', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'].join('_');
  assert.equal(signWebhook(MESSAGE, secret), 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  assert.notEqual(signWebhook({ ...MESSAGE, timestamp_s: 1 }, secret), signWebhook(MESSAGE, secret));
  assert.notEqual(signWebhook(MESSAGE, 'another'), signWebhook(MESSAGE, secret));
});

test('addresses at which clouds keep credentials are known', () => {
  const kept = ['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', 'fd00:ec2::254', '100.100.100.200'];
  const others = ['127.0.0.1', '10.0.0.1', '192.168.1.1', '::1', 'fd00::1', '203.0.113.9'];
  for (const address of kept) assert.equal(isMetadataOrLinkLocalAddress(address), true, address);
  for (const address of others) assert.equal(isMetadataOrLinkLocalAddress(address), false, address);
});

test('what is taken, and what is not', async () => {
  const STATUSES = { 200: true, 204: true, 302: false, 400: false, 500: false };
  for (const [status, taken] of Object.entries(STATUSES)) {
    const sent = await withReceiver(
      (_request, response) => void response.writeHead(Number(status), { location: '/elsewhere' }).end('no'),
      (url) => postWebhook(MESSAGE, webhookAt(url)),
    );
    assert.equal(sent.taken, taken, status);
  }
  const late = await withReceiver(
    () => {},
    (url) => postWebhook(MESSAGE, webhookAt(url, { timeout_ms: 100 })),
  );
  assert.deepEqual(late, { taken: false, reason: 'It did not answer in time.' });
  const none = await postWebhook(MESSAGE, webhookAt('http://127.0.0.1:1/'));
  assert.deepEqual(none, { taken: false, reason: 'It could not be reached (ECONNREFUSED).' });
  for (const url of ['http://169.254.169.254/latest', 'http://[fe80::1]/', 'http://0xa9fea9fe/']) {
    const refused = await postWebhook(MESSAGE, webhookAt(url));
    assert.match(refused.taken ? '' : refused.reason, /link-local/, url);
  }
});

withStores('the outbox of approvals', (law) => {
  law(
    'each transition waits in it until it was taken, and is dropped after the last attempt',
    async ({ store }) => {
      const approvalsTest = openTestApprovals(store, {}, true);
      const warned: unknown[] = [];
      const waiting = () =>
        store.db
          .selectFrom('outbox_messages')
          .selectAll()
          .where('status', '=', 'pending')
          .orderBy('delivery_id')
          .execute();
      const send = (url: string) =>
        deliverWebhooks({
          store: async () => store,
          now_ms: () => approvalsTest.clock.now_ms,
          webhook: webhookAt(url),
          log: { warn: (message, fields) => void warned.push({ message, ...fields }) },
        });
      await approvalsTest.check();
      const [first] = await waiting();
      assert.equal(JSON.parse(first!.body).type, 'approval.pending');
      const ids: unknown[] = [];
      for (const attempt of [1, 2, 3]) {
        await withReceiver(
          ({ headers }, response) => {
            ids.push(headers['webhook-id']);
            response.writeHead(500).end();
          },
          async (url) => {
            assert.equal(await send(url), false);
            // The next attempt is not due yet.
            assert.equal(await send(url), false);
          },
        );
        const left = await waiting();
        assert.equal(left.length, attempt === 3 ? 0 : 1);
        if (attempt < 3)
          assert.ok(left[0]!.next_attempt_ms >= approvalsTest.clock.now_ms + 1_000 + 500 * 2 ** attempt);
        approvalsTest.clock.now_ms += 60_000;
      }
      assert.deepEqual(ids, Array(3).fill(first!.delivery_id));
      assert.equal(warned.length, 3);
      assert.match(JSON.stringify(warned.at(-1)), /no more attempts/);

      for (const sessionId of ['a', 'b', 'c']) await approvalsTest.check({ session_id: sessionId });
      const bodies: string[] = [];
      await withReceiver((request, response) => {
        request.on('data', (chunk) => bodies.push(String(chunk)));
        request.on('end', () => response.writeHead(204).end());
      }, send);
      assert.equal(bodies.length, 3);
      assert.deepEqual(await waiting(), []);
    },
  );

  law('two services on one store do not send the same at the same time', async ({ store, another }) => {
    const approvalsTest = openTestApprovals(store, {}, true);
    for (let at = 0; at < 8; at++) await approvalsTest.check({ session_id: `s-${at}` });
    const other = await another();
    const ids: unknown[] = [];
    await withReceiver(
      ({ headers }, response) => {
        ids.push(headers['webhook-id']);
        response.writeHead(204).end();
      },
      async (url) => {
        const parts = {
          now_ms: () => approvalsTest.clock.now_ms,
          webhook: webhookAt(url),
          log: { warn: () => {} },
        };
        await Promise.all(
          [store, other].map((each) => deliverWebhooks({ ...parts, store: async () => each })),
        );
      },
    );
    assert.equal(ids.length, 8);
    assert.equal(new Set(ids).size, 8);
  });
});
