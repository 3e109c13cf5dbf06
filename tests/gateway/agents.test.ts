/** Budgets and approvals of agents, from the view of the official SDKs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { missingFor } from './clients.ts';
import { errorName, type Lane, nameOf, SAMPLE_LANES } from './lanes.ts';
import { run } from './runs.ts';
import { type ExpectedReading, type Scenario, step, TEXT } from './scenarios.ts';
import { askOperator, openStage, runTable } from './stage.ts';

const stage = await openStage(() => ({
  config: {
    cost: { budgets: [{ name: 'tiny', scope: { agent_id: 'spender' }, limit_usd: 0 }] },
    policies: [
      {
        name: 'mail-needs-a-person',
        boundary: 'action',
        condition: { tools: ['send_mail'] },
        action: 'require_approval',
        reason: 'A person has to agree to mail.',
      },
    ],
  },
}));

const runnable = SAMPLE_LANES.filter(({ client }) => missingFor(client) === null);

/** Returns the error of a call over budget, which no SDK retries. */
function overBudget(lane: Lane): ExpectedReading {
  const words = {
    openai: { code: 'budget_exceeded' },
    anthropic: { type: 'invalid_request_error' },
    gemini: { type: 'INVALID_ARGUMENT' },
  };
  return { error: { name: errorName(lane, 400), status: 400, ...words[lane.family] } };
}

const overBudgetOn = (): readonly Scenario[] =>
  [false, true].map((isStream) => ({
    name: `over budget${isStream ? ', streamed' : ''}`,
    ask: { is_stream: isStream, headers: { 'x-service-agent': 'spender' }, max_retries: 2 },
    steps: step(isStream ? 'plain.stream' : 'plain'),
    expect: overBudget,
    requests: 0,
  }));

test('over budget is an error that no SDK retries', {
  concurrency: true,
}, async (t) => {
  const baseUrl = stage.service().url;
  await runTable(t, { ...stage, base_url: baseUrl, lanes: SAMPLE_LANES, scenariosOf: overBudgetOn });
});

test('each call over budget was refused once', async () => {
  const query = { agent_id: 'spender', phase: 'budget', limit: 1_000 };
  const { answer } = await askOperator(stage.service(), '/v1/audit/query', query);
  const events = answer.events as readonly { readonly decision: string; readonly rule: string }[];
  assert.equal(events.length, 2 * runnable.length);
  assert.ok(events.every(({ decision }) => decision === 'block'));
});

const METERED: readonly Scenario[] = ['plain', 'plain.stream'].map((recording) => ({
  name: `a call that counts: ${recording}`,
  ask: { is_stream: recording !== 'plain', headers: { 'x-service-agent': 'meter' } },
  steps: step(recording),
  expect: ({ family, finish, usage_is_asked }) => ({
    text: TEXT,
    finish: finish.stop,
    usage: recording !== 'plain' && usage_is_asked ? null : family === 'gemini' ? [9, 14] : [38, 14],
    turns: 1,
  }),
}));

test('the usage of every call equals the provider’s count, streamed or not', {
  concurrency: true,
}, async (t) => {
  const service = stage.service();
  await runTable(t, { ...stage, base_url: service.url, lanes: SAMPLE_LANES, scenariosOf: () => METERED });
  if (runnable.length === 0) return;
  const input = runnable.reduce((sum, { family }) => sum + 2 * (family === 'gemini' ? 9 : 38), 0);
  const output = 14 * 2 * runnable.length;
  // Calls without a budget are charged a moment later.
  let tokens: { input: number; output: number } | undefined;
  for (let tries = 0; tries < 1_200 && tokens?.input !== input; tries += 1) {
    await sleep(50);
    const { answer } = await askOperator(service, '/v1/dashboard/cost/summary');
    tokens = answer.tokens as typeof tokens;
    assert.deepEqual(Object.keys(answer.by_agent as object), ['meter']);
  }
  assert.partialDeepStrictEqual(tokens, { input, output });
});

/** Makes a scenario with a tool that needs approval. Each lane calls it with an agent of its own. */
function mail(lane: Lane, isStream: boolean, expect: Scenario['expect']): Scenario {
  const agent = nameOf(lane).replace(' ', '-');
  return {
    name: 'a tool that a person has to allow',
    ask: { tools: ['send_mail'], is_stream: isStream, headers: { 'x-service-agent': agent } },
    steps: step(isStream ? 'one-call.stream' : 'one-call', {
      pieces: { tool: ['send_mail'], arguments: ['{"to":"every', 'body"}'] },
    }),
    expect,
  };
}

test('a tool call that needs approval: denied, then allowed once, then denied', {
  concurrency: true,
}, async (t) => {
  const service = stage.service();
  let asked = 0;
  await Promise.all(
    SAMPLE_LANES.map((lane) =>
      t.test(nameOf(lane), { skip: missingFor(lane.client) ?? false }, async () => {
        const world = { ...stage, base_url: service.url };
        const agentId = nameOf(lane).replace(' ', '-');
        const refused = await run(
          world,
          lane,
          mail(lane, false, () => ({})),
        );
        assert.partialDeepStrictEqual(refused.seen.error, { name: errorName(lane, 400), status: 400 });
        const { answer } = await askOperator(service, '/v1/approvals?status=pending&limit=100');
        const pending = (
          answer.approvals as readonly { request_id: string; agent_id: string; tool: string }[]
        ).filter((each) => each.agent_id === agentId);
        assert.deepEqual(
          pending.map(({ tool }) => tool),
          ['send_mail'],
        );
        const approve = `/v1/approvals/${pending[0]!.request_id}/approve`;
        assert.equal((await askOperator(service, approve, {})).status, 200);
        const allowed = await run(
          world,
          lane,
          mail(lane, true, () => ({})),
        );
        assert.equal(allowed.seen.error, null, JSON.stringify(allowed.seen.error));
        assert.deepEqual(allowed.seen.calls, [{ tool: 'send_mail', arguments: { to: 'everybody' } }]);
        const again = await run(
          world,
          lane,
          mail(lane, false, () => ({})),
        );
        assert.equal(again.seen.error?.status, 400);
        asked += 1;
      }),
    ),
  );
  assert.equal(asked, runnable.length);
});
