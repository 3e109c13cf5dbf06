/** Sessions of LLM calls: taint tags of a request and its tool results exist before the answer is judged. */
import assert from 'node:assert/strict';
import { parseJsonTree } from '../../core/json/json-tree.ts';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { type Store, StoreFailure } from '../../platform/store/index.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { openSessionClock } from '../../runtime/enforcement/sessions/clock.ts';
import { LIMITS } from '../../runtime/enforcement/sessions/testing/limits.ts';
import { guardAnswer } from './guard-answer.ts';
import { guardRequest } from './guard-request.ts';
import { guardStream } from './guard-stream.ts';
import { buildCallContext, buildUpstreamAnswer, type TestCallContext } from './testing/call-context.ts';
import { STREAMING_APIS, type StreamingApi } from './testing/streams.ts';

const contract = (toolName: string, more: object = {}) => ({
  tool_name: toolName,
  accepts: {},
  emits: {},
  side_effects: { reversible: true, requires_approval: false },
  ...more,
});

/** Blocks mail after a tool result was read. Another tool may be called twice a minute. */
const POLICY = buildTestPolicy({
  rules: [
    {
      name: 'no-way-out',
      boundary: 'action',
      data_tags: ['egress.tool'],
      action: 'block',
      condition: { session_tags: ['untrusted.tool_result'] },
    },
  ],
  documents: [
    {
      contracts: [
        contract('web.read'),
        contract('limited', { max_calls_per_minute: 2 }),
        contract('mail.send', {
          side_effects: { reversible: false, requires_approval: false, egress: true },
        }),
      ],
    },
  ],
});

const PLAIN = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
const READ = {
  model: 'm',
  messages: [
    { role: 'user', content: 'Look' },
    { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'web.read' } }] },
    { role: 'tool', tool_call_id: 'c1', content: 'A page.' },
  ],
};

function buildContext(store: () => Promise<Store>, body: object): TestCallContext {
  return buildCallContext({
    policy: POLICY,
    body,
    ports: { sessions: { store, limits: LIMITS, timeOf: openSessionClock() } },
  });
}

/** Judges a request, then an answer with a tool call, whole or streamed. Returns the rule that blocked the call. */
async function turn(
  callContext: TestCallContext['call_context'],
  tool: string,
  way: 'whole' | 'streamed',
): Promise<string | null> {
  const node = parseJsonTree(Buffer.from(callContext.call.body).toString(), callContext.ports.policy.limits);
  assert.ok(node.kind !== 'problem');
  const { recorded } = await guardRequest(callContext, callContext.call.format.readRequest(node));
  assert.notEqual((await recorded).verdict.decision, 'block');
  const answering = { call_context: callContext, model: null, tokens: null };
  if (way === 'whole') {
    const call = { id: 't1', type: 'function', function: { name: tool, arguments: '{}' } };
    const body = JSON.stringify({ choices: [{ message: { tool_calls: [call] } }] });
    const answer = parseJsonTree(body, callContext.ports.policy.limits);
    assert.ok(answer.kind !== 'problem');
    const read = callContext.call.format.readAnswer(answer);
    assert.ok(read);
    const { denied } = await guardAnswer(read, body, answering);
    return denied?.verdict.rule ?? null;
  }
  const [chat] = STREAMING_APIS as readonly [StreamingApi];
  const news = { onChunk: () => {}, onEvent: () => {}, onEnd: () => {} };
  const stream = buildUpstreamAnswer(chat.call?.(tool, ['{', '}']) ?? []);
  let out = '';
  for await (const text of await guardStream(
    stream,
    { choices: 1, drops_usage: false, repeatable: new Set<string>() },
    answering,
    news,
  ))
    out += text;
  return /"rule":"([^"]+)"/.exec(out)?.[1] ?? null;
}

withStores('the flow of calls', (law) => {
  for (const way of ['whole', 'streamed'] as const) {
    law(`what a tool gave back counts for the call that follows it, ${way}`, async ({ store }) => {
      const open = async () => store;
      assert.equal(await turn(buildContext(open, PLAIN).call_context, 'mail.send', way), null);
      const { call_context, events } = buildContext(open, READ);
      assert.equal(await turn(call_context, 'mail.send', way), 'no-way-out');
      const call = events.find(({ tool_name }) => tool_name === 'mail.send');
      assert.deepEqual(call?.metadata.session_tags, ['untrusted.tool_result']);
      // The taint tag outlives the request that added it.
      assert.equal(await turn(buildContext(open, PLAIN).call_context, 'mail.send', way), 'no-way-out');
    });

    law(`calls are counted with those of every other call_context, ${way}`, async ({ store }) => {
      const { call_context } = buildContext(async () => store, PLAIN);
      const rules: (string | null)[] = [];
      for (let at = 0; at < 3; at++) rules.push(await turn(call_context, 'limited', way));
      assert.deepEqual(rules, [null, null, 'contract.max_calls_per_minute']);
    });
  }

  law('where the session cannot be looked up, nothing of a stream goes out', async () => {
    const { call_context, events } = buildContext(
      () => Promise.reject(new StoreFailure('store_unavailable', 'It is down.')),
      PLAIN,
    );
    const [chat] = STREAMING_APIS as readonly [StreamingApi];
    const news = { onChunk: () => {}, onEvent: () => {}, onEnd: () => {} };
    const answering = { call_context, model: null, tokens: null };
    let out = '';
    const stream = buildUpstreamAnswer(chat.text(['One ', 'two.']));
    for await (const text of await guardStream(
      stream,
      { choices: 1, drops_usage: false, repeatable: new Set<string>() },
      answering,
      news,
    ))
      out += text;
    assert.ok(!out.includes('One') && out.includes('fault.store'), out);
    assert.deepEqual([events.length, events[0]?.decision], [1, 'block']);
  });
});
