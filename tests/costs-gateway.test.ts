/**
 * A budget from the view of clients of the LLM proxy: through two workers, to a provider that counts the requests that
 * reach it.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startTestService } from './support/service.ts';
import { until } from './support/until.ts';

const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 50, completion_tokens: 1_000, total_tokens: 1_050 },
};
/** The cost of such an answer in millionths of a dollar: 50 tokens at 0.15 and 1,000 at 0.60. */
const COST = 608;
const CALLS = 24;

test('calls at the same time spend what there is, the others are refused, and all of it is recorded', async (t) => {
  let reached = 0;
  const provider = createServer((request, response) => {
    request.resume().on('end', () => {
      reached += 1;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER));
    });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  t.after(() => provider.close());
  const { port } = provider.address() as AddressInfo;
  const service = await startTestService({
    workers: 2,
    config: {
      proxy: { target: `http://127.0.0.1:${port}` },
      cost: { budgets: [{ name: 'each-user', limit_usd: 0.005, scope: { user_id: 'each' } }] },
    },
  });
  t.after(() => service.stop());
  const call = (user: string) =>
    fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-agent': 'planner', 'x-service-user': user },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        max_tokens: 1_000,
        messages: [{ role: 'user', content: 'Hello there.' }],
      }),
    });
  const answers = await Promise.all(Array.from({ length: CALLS }, () => call('ann')));
  const served = answers.filter(({ status }) => status === 200).length;
  const refused = answers.filter(({ status }) => status === 400);
  assert.equal(served + refused.length, CALLS);
  assert.equal(reached, served);
  assert.ok(served >= 1 && served * COST <= 5_000, `${served} were served`);
  for (const answer of refused) {
    assert.equal(answer.headers.get('x-should-retry'), 'false');
    const { error } = (await answer.json()) as { error: { code: string; budget: string; event_id: string } };
    assert.deepEqual([error.code, error.budget], ['budget_exceeded', 'each-user']);
    assert.match(error.event_id, /^evt_/);
  }
  assert.equal((await call('bob')).status, 200);
  const standing = async () => {
    const answer = await fetch(`${service.url}/v1/costs/budget?agent_id=planner&user_id=ann`);
    const { budgets } = (await answer.json()) as { budgets: { spent_usd: number; reserved_usd: number }[] };
    return budgets[0]!;
  };
  // The client has its answer before the call is charged; the reservation holds the budget until then.
  await until(async () => (await standing()).reserved_usd === 0, 'the charge of the last call');
  const { spent_usd, reserved_usd } = await standing();
  assert.deepEqual([Math.round(spent_usd * 1e6), reserved_usd], [served * COST, 0]);
  const metrics = await (await fetch(`${service.url}/v1/metrics`)).text();
  const counted = `service_budget_events_total{budget="each-user",event="refusal"} ${refused.length}`;
  assert.ok(metrics.includes(counted), counted);
});
