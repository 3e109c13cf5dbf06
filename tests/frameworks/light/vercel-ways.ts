/** Ways in which text of a model could pass the guard of the AI SDK. Ends with 0 if none does. */
import assert from 'node:assert/strict';
import { generateText, jsonSchema, streamText, tool, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { createVercelMiddleware, guardVercelTools } from '../../../src/sdk/adapters/vercel-ai.ts';
import { createEmbeddedGuard } from '../../../src/sdk/index.ts';
import { tryWays, type Ways } from '../ways.ts';

const SECRET = ['sk-', 'ABCDEF1234567890'].join('');
const INPUT = JSON.stringify({ key: SECRET });
const guard = createEmbeddedGuard();

/** Streams one call with a secret in its arguments. Returns what the tool received before and after the check. */
async function streamCall(isGuarded: boolean): Promise<{ early: string; ran_with: readonly string[] }> {
  let early = '';
  const ranWith: string[] = [];
  const save = tool({
    inputSchema: jsonSchema<{ key: string }>({ type: 'object', properties: { key: { type: 'string' } } }),
    onInputDelta: ({ inputTextDelta }) => {
      early += inputTextDelta;
    },
    execute: async ({ key }) => void ranWith.push(key),
  });
  const chunks = [
    { type: 'raw', rawValue: INPUT },
    { type: 'tool-input-start', id: 'c1', toolName: 'save' },
    ...[...INPUT].map((delta) => ({ type: 'tool-input-delta', id: 'c1', delta })),
    { type: 'tool-input-end', id: 'c1' },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'save', input: INPUT },
    { type: 'finish', finishReason: { unified: 'tool-calls' }, usage: { inputTokens: {}, outputTokens: {} } },
  ];
  const plain = new MockLanguageModelV4({
    doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) as never,
  });
  const model = isGuarded
    ? wrapLanguageModel({ model: plain, middleware: createVercelMiddleware(guard) })
    : plain;
  const tools = isGuarded ? guardVercelTools({ save }, guard) : { save };
  const { fullStream } = streamText({ model, tools, prompt: 'Save it.', includeRawChunks: true });
  for await (const part of fullStream) if (part.type === 'raw') early += String(part.rawValue);
  return { early, ran_with: ranWith };
}

const ADDRESS = `postgresql://${'admin:p4ssw0rd'}@db.internal:5432/prod`;

/** Answers with these parts, whole and streamed. Returns what the model and the program saw. */
async function answerWith(
  parts: readonly object[],
  messages: object[] = [{ role: 'user', content: 'hello' }],
) {
  const prompts: unknown[] = [];
  const end = { finishReason: { unified: 'stop' }, usage: { inputTokens: {}, outputTokens: {} } };
  const chunks = [...parts, { type: 'finish', ...end, providerMetadata: { own: { tokens: parts } } }];
  const plain = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      prompts.push(prompt);
      return { content: parts, warnings: [], ...end } as never;
    },
    doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) as never,
  });
  const model = wrapLanguageModel({ model: plain, middleware: createVercelMiddleware(guard) });
  const asked = { model, messages: messages as never, maxRetries: 0 };
  const { content } = await generateText(asked);
  const streamed = await Array.fromAsync(streamText(asked).fullStream);
  return { prompts: JSON.stringify(prompts), shown: JSON.stringify([content, streamed]) };
}

const ways: Ways = {
  'parts of a provider that are no text': async () => {
    const { shown } = await answerWith([
      { type: 'source', sourceType: 'url', id: '1', url: 'https://example.com/', title: ADDRESS },
      { type: 'source', sourceType: 'url', id: '2', url: 'https://example.com/kept' },
      { type: 'custom', kind: 'own.note', note: ADDRESS },
      {
        type: 'tool-call',
        toolCallId: 'c1',
        toolName: 'web',
        input: '{}',
        providerExecuted: true,
        dynamic: true,
      },
      { type: 'tool-result', toolCallId: 'c1', toolName: 'web', result: { found: ADDRESS }, dynamic: true },
    ]);
    assert.ok(!shown.includes('p4ssw0rd'));
    assert.ok(shown.includes('kept'));
  },
  'arguments of a tool that ran at the provider': async () => {
    const call = {
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'web',
      providerExecuted: true,
      dynamic: true,
    };
    const { shown } = await answerWith([{ ...call, input: INPUT, providerMetadata: { own: { INPUT } } }]);
    assert.ok(!shown.includes(SECRET));
    assert.ok(shown.includes('"toolName":"web"'));
  },
  'a result that the program brings': async () => {
    const call = { toolCallId: 'c1', toolName: 'ask' };
    const { prompts } = await answerWith(
      [{ type: 'source', sourceType: 'url', id: '1', url: 'https://example.com/' }],
      [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
        {
          role: 'tool',
          content: [{ type: 'tool-result', ...call, output: { type: 'text', value: ADDRESS } }],
        },
      ],
    );
    assert.ok(!prompts.includes('p4ssw0rd'));
    assert.ok(prompts.includes('[REDACTED]'));
  },
  'a file of text': async () => {
    const ask = (text: string) => {
      const file = { type: 'file', mediaType: 'text/plain', data: new TextEncoder().encode(text) };
      return answerWith([], [{ role: 'user', content: [file] }]);
    };
    await assert.rejects(ask(`Use key ${SECRET}`), /secret/);
    assert.match((await ask('hello')).prompts, /text.plain/);
  },
  'the input of a tool before it runs': async () => {
    const received: unknown[] = [];
    const save = tool({
      inputSchema: jsonSchema<{ key: string }>({ type: 'object', properties: { key: { type: 'string' } } }),
      onInputAvailable: ({ input }) => void received.push(input),
      execute: async () => 'saved',
    });
    const { save: guarded } = guardVercelTools({ save }, guard);
    const run = (key: string) => guarded.execute!({ key }, { toolCallId: 'c1', messages: [] } as never);
    assert.match(String(await run(SECRET)), /secret/);
    assert.equal(await run('none'), 'saved');
    assert.equal(guarded.onInputAvailable, undefined);
    assert.deepEqual(received, [{ key: 'none' }]);
  },
  'without a guard, a tool receives its arguments in parts': async () => {
    assert.deepEqual(await streamCall(false), { early: INPUT + INPUT, ran_with: [SECRET] });
  },
  'with a guard, it receives nothing': async () => {
    assert.deepEqual(await streamCall(true), { early: '', ran_with: [] });
  },
};

await tryWays(ways);
