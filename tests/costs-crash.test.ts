/** The service is killed at any moment during calls. It still counts every call that reached the provider. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { killAll } from './support/crash.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

/** The cost of an answer in millionths of a dollar: 50 tokens at 0.15 and 1,000 at 0.60. */
const COST = 608;
const LIMIT = 60_000;
const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 50, completion_tokens: 1_000, total_tokens: 1_050 },
});
const ROUNDS = process.env.NIGHTLY === undefined ? 1 : 4;
const CALLERS = 6;

test('every call that reached the provider is charged, however the service ends', {
  timeout: 180_000,
}, async (t) => {
  const provider = await startProvider(t);
  let service = await startTestService({
    config: {
      proxy: { target: `http://127.0.0.1:${provider.port}` },
      cost: { budgets: [{ name: 'all', limit_usd: LIMIT / 1e6 }] },
    },
    keep: true,
  });
  const { dir } = service;
  for (let round = 0; round < ROUNDS; round++) {
    const before = provider.reached();
    const gone = callUntilGone(service);
    await until(() => provider.reached() >= before + 10 + round);
    killAll(service);
    await service.kill('SIGKILL');
    const told = await gone;
    assert.ok(provider.reached() > before, `round ${round}: nothing was under way`);
    assert.ok(told.answered > 0 && told.refused === 0, `round ${round}: ${JSON.stringify(told)}`);
    service = await startTestService({ dir, keep: round + 1 < ROUNDS });
    const { spent, reserved } = await standing(service);
    assert.ok(
      spent + reserved >= provider.reached() * COST,
      `${spent} + ${reserved} for ${provider.reached()}`,
    );
    assert.ok(spent + reserved <= LIMIT, `${spent} + ${reserved} of ${LIMIT}`);
  }
  t.after(() => service.stop());
  // Reservations of the killed processes stay reserved, so the last calls are refused before the limit is passed.
  for (let left = 200; left > 0 && (await call(service)) === 200; left--);
  assert.equal(await call(service), 400);
  const { spent, reserved } = await standing(service);
  assert.ok(spent >= (provider.reached() - ROUNDS * CALLERS) * COST, `${spent} for ${provider.reached()}`);
  assert.ok(
    provider.reached() * COST <= spent + reserved && spent + reserved <= LIMIT,
    `${spent}, ${reserved}`,
  );
});

/** Starts a provider that answers with a delay and counts the requests that reach it. */
async function startProvider(t: TestContext): Promise<{ port: number; reached: () => number }> {
  let reached = 0;
  const provider = createServer((request, response) => {
    request.resume().on('end', async () => {
      reached += 1;
      await sleep(20 + (reached % 5) * 10);
      response.setHeader('content-type', 'application/json').end(ANSWER);
    });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  t.after(() => {
    provider.closeAllConnections();
    provider.close();
  });
  return { port: (provider.address() as AddressInfo).port, reached: () => reached };
}

/** Sends one call and returns its status. */
async function call({ url }: TestService): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      max_tokens: 1_000,
      messages: [{ role: 'user', content: 'Hello there.' }],
    }),
  });
  await answer.text();
  return answer.status;
}

/** Runs several callers until the service is gone. */
async function callUntilGone(service: TestService): Promise<{ answered: number; refused: number }> {
  const count = { answered: 0, refused: 0 };
  const one = async (): Promise<void> => {
    for (;;) {
      const status = await call(service).catch(() => null);
      if (status === null) return;
      if (status === 200) count.answered += 1;
      else count.refused += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, one));
  return count;
}

/** Returns the budget status in millionths of a dollar. */
async function standing({ url }: TestService): Promise<{ spent: number; reserved: number }> {
  const answer = await fetch(`${url}/v1/costs/budget`);
  const { budgets } = (await answer.json()) as { budgets: { spent_usd: number; reserved_usd: number }[] };
  const { spent_usd, reserved_usd } = budgets[0]!;
  return { spent: Math.round(spent_usd * 1e6), reserved: Math.round(reserved_usd * 1e6) };
}
