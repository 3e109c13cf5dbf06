/** Ways in which text of a model could pass the guard of the AI SDK. Ends with 0 if none does. */
import assert from 'node:assert/strict';
import { jsonSchema, streamText, tool, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { createVercelMiddleware, guardVercelTools } from '../../../src/sdk/adapters/vercel-ai.ts';
import { createEmbeddedGuard } from '../../../src/sdk/index.ts';

const SECRET = ['sk-', 'ABCDEF1234567890'].join('');
const INPUT = JSON.stringify({ key: SECRET });
const guard = createEmbeddedGuard();

/** Streams one call with a secret in its arguments. Returns what the tool received before and after the check. */
async function streamCall(is_guarded: boolean): Promise<{ early: string; ran_with: readonly string[] }> {
  let early = '';
  const ran_with: string[] = [];
  const save = tool({
    inputSchema: jsonSchema<{ key: string }>({ type: 'object', properties: { key: { type: 'string' } } }),
    onInputDelta: ({ inputTextDelta }) => {
      early += inputTextDelta;
    },
    execute: async ({ key }) => void ran_with.push(key),
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
  const model = is_guarded
    ? wrapLanguageModel({ model: plain, middleware: createVercelMiddleware(guard) })
    : plain;
  const tools = is_guarded ? guardVercelTools({ save }, guard) : { save };
  const { fullStream } = streamText({ model, tools, prompt: 'Save it.', includeRawChunks: true });
  for await (const part of fullStream) if (part.type === 'raw') early += String(part.rawValue);
  return { early, ran_with };
}

const ways: Readonly<Record<string, () => Promise<void>>> = {
  'without a guard, a tool receives its arguments in parts': async () => {
    assert.deepEqual(await streamCall(false), { early: INPUT + INPUT, ran_with: [SECRET] });
  },
  'with a guard, it receives nothing': async () => {
    assert.deepEqual(await streamCall(true), { early: '', ran_with: [] });
  },
};

const failed: string[] = [];
for (const [name, pass] of Object.entries(ways))
  await pass().catch((error: unknown) => failed.push(`${name}: ${error}`));
console.log(`${Object.keys(ways).length} ways`);
assert.deepEqual(failed, []);
process.exit(0);
