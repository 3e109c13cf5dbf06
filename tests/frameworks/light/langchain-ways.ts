/** Ways in which text of a model or a tool could pass the guard of LangChain. Ends with 0 if none does. */
import assert from 'node:assert/strict';
import { InMemoryCache } from '@langchain/core/caches';
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  HumanMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Command } from '@langchain/langgraph';
import * as langchain from 'langchain';
import { z } from 'zod';
import {
  createLangChainMiddleware,
  guardLangChainModel,
  guardLangChainTools,
} from '../../../src/sdk/adapters/langchain.ts';
import { createEmbeddedGuard } from '../../../src/sdk/index.ts';
import { tryWays, type Ways } from '../ways.ts';

const SECRET = `postgresql://${'admin:p4ssw0rd'}@db.internal:5432/prod`;
const KEY = ['sk-', 'ABCDEF1234567890'].join('');
const MASKED = '[REDACTED]';
const guard = createEmbeddedGuard();
const middleware = () => createLangChainMiddleware(langchain, guard);
const asked = { messages: [{ role: 'user', content: 'What is the setting?' }] };

/** Returns a model that gives these answers one after the other, and then the last one again. */
function answerWith(...messages: readonly BaseMessage[]): FakeListChatModel {
  let at = 0;
  const model: FakeListChatModel = Object.assign(new FakeListChatModel({ responses: [''] }), {
    bindTools: () => model,
    _generate: async () => {
      const message = messages[Math.min(at++, messages.length - 1)]!;
      return { generations: [{ text: message.text, message }] };
    },
  } as object);
  return model;
}

/** Returns a model that streams these parts of a message. */
function streamParts(
  ...parts: readonly ConstructorParameters<typeof AIMessageChunk>[0][]
): FakeListChatModel {
  return Object.assign(new FakeListChatModel({ responses: [''] }), {
    async *_streamResponseChunks() {
      for (const part of parts)
        yield new ChatGenerationChunk({ text: '', message: new AIMessageChunk(part as never) });
    },
  } as object);
}

const letters = (text: string, build: (letter: string) => object) => [...text].map(build) as never[];

const ways: Ways = {
  'blocks of text and of thought': async () => {
    const model = streamParts(
      ...letters(SECRET, (thinking) => ({ content: [{ type: 'thinking', thinking, index: 0 }] })),
      { content: [{ type: 'thinking', signature: 'signed', index: 0 }] } as never,
      ...letters(`It is ${SECRET}`, (text) => ({ content: [{ type: 'text', text, index: 1 }] })),
    );
    let whole: AIMessageChunk | null = null;
    for await (const chunk of await guardLangChainModel(model, guard).stream('hello'))
      whole = whole === null ? chunk : whole.concat(chunk);
    assert.deepEqual(whole?.content, [
      { type: 'thinking', thinking: MASKED, index: 0, signature: 'signed' },
      { type: 'text', text: `It is ${MASKED}`, index: 1 },
    ]);
  },
  'reasoning next to the content': async () => {
    const extra = (reasoningContent: string) => ({
      content: '',
      additional_kwargs: { reasoning_content: reasoningContent },
    });
    const model = streamParts(...letters(SECRET, extra), { content: 'Noted.' });
    const chunks = await Array.fromAsync(await guardLangChainModel(model, guard).stream('hello'));
    assert.equal(chunks.map(({ text }) => text).join(''), 'Noted.');
    assert.ok(!JSON.stringify(chunks).includes('reasoning_content'));
    const clean = streamParts(...letters('I think.', extra), { content: 'Noted.' });
    const shown = await Array.fromAsync(await guardLangChainModel(clean, guard).stream('hello'));
    assert.equal(shown.at(-1)?.additional_kwargs.reasoning_content, 'I think.');
  },
  'a model with settings': async () => {
    const model = guardLangChainModel(
      answerWith(new AIMessage(SECRET)).withConfig({ tags: ['mine'] }),
      guard,
    );
    assert.equal((await model.invoke('hello')).text, MASKED);
    assert.equal((await model.withConfig({ tags: ['yours'] }).invoke('hello')).text, MASKED);
  },
  'a cache that an unguarded model filled': async () => {
    const model = answerWith(new AIMessage(SECRET), new AIMessage('not from the cache'));
    model.cache = new InMemoryCache();
    assert.equal((await model.invoke('hello')).text, SECRET);
    assert.equal((await guardLangChainModel(model, guard).invoke('hello')).text, MASKED);
  },
  'a model that later middleware puts in': async () => {
    const swap = langchain.createMiddleware({
      name: 'swap',
      wrapModelCall: (request, handler) =>
        handler({ ...request, model: answerWith(new AIMessage(SECRET)) as never }),
    });
    const model = answerWith(new AIMessage('Noted.'));
    const agent = langchain.createAgent({ model, tools: [], middleware: [middleware(), swap] });
    assert.equal((await agent.invoke(asked)).messages.at(-1)?.text, MASKED);
  },
  'a structured answer': async () => {
    const ask = async (setting: string) => {
      const call = { id: 'c1', name: 'setting', args: { setting } };
      const schema = z.object({ setting: z.string() }).meta({ title: 'setting' });
      const model = answerWith(new AIMessage({ content: '', tool_calls: [call] }));
      const responseFormat = langchain.toolStrategy(schema as never);
      const agent = langchain.createAgent({ model, tools: [], responseFormat, middleware: [middleware()] });
      return agent.invoke(asked);
    };
    assert.deepEqual((await ask('none')).structuredResponse, { setting: 'none' });
    await assert.rejects(ask(SECRET), /secret/i);
  },
  'a refused call in the own form of a provider': async () => {
    const args = { key: KEY };
    const call = { id: 'c1', name: 'send', args };
    const repeated = {
      content: [
        { type: 'text', text: 'I send it.' },
        { type: 'tool_use', id: 'c1', name: 'send', input: args },
        { type: 'functionCall', functionCall: { name: 'send', args } },
      ],
      additional_kwargs: { tool_calls: [{ id: 'c1', function: { arguments: JSON.stringify(args) } }] },
      response_metadata: { output: [args] },
    };
    const invalidToolCalls = [{ id: 'c2', name: 'send', args: `{"key":"${KEY}` }];
    const whole = answerWith(
      new AIMessage({ ...repeated, tool_calls: [call], invalid_tool_calls: invalidToolCalls } as never),
    );
    const pieces = letters(JSON.stringify(args), (letter) => ({
      content: '',
      tool_call_chunks: [{ index: 0, args: letter, type: 'tool_call_chunk' }],
    }));
    const first = { id: 'c1', name: 'send', args: '', index: 0, type: 'tool_call_chunk' as const };
    const streamed = streamParts({ ...repeated, tool_call_chunks: [first] } as never, ...pieces);
    const masked = [{ key: MASKED }];
    let chunk: AIMessageChunk | null = null;
    for await (const part of await guardLangChainModel(streamed, guard).stream('hello'))
      chunk = chunk === null ? part : chunk.concat(part);
    for (const message of [await guardLangChainModel(whole, guard).invoke('hello'), chunk]) {
      assert.ok(!JSON.stringify(message).includes(KEY));
      assert.deepEqual(
        message?.tool_calls?.map((each) => each.args),
        masked,
      );
      assert.ok(JSON.stringify(message?.content).includes('"tool_use"'));
    }
  },
  'a command of a tool': async () => {
    const call = { id: 'c1', name: 'look_up', args: {} };
    const lookUp = tool(
      async () => {
        const message = new ToolMessage({ content: SECRET, tool_call_id: 'c1', name: 'look_up' });
        return new Command({ update: { messages: [message] } });
      },
      { name: 'look_up', description: 'Looks something up.', schema: z.object({}) },
    );
    const model = answerWith(new AIMessage({ content: '', tool_calls: [call] }), new AIMessage('Noted.'));
    const agent = langchain.createAgent({ model, tools: [lookUp], middleware: [middleware()] });
    const { messages } = await agent.invoke(asked);
    assert.equal(messages.find(({ type }) => type === 'tool')?.text, MASKED);
    assert.equal(messages.at(-1)?.text, 'Noted.');
  },
  'a command that changes the state': async () => {
    const lookUp = tool(
      async () =>
        new Command({
          update: {
            note: SECRET,
            messages: [
              new HumanMessage(SECRET),
              new ToolMessage({ content: 'Noted.', tool_call_id: 'c1', name: 'look_up' }),
            ],
          },
        }),
      { name: 'look_up', description: 'Looks something up.', schema: z.object({}) },
    );
    const [guarded] = guardLangChainTools([lookUp], guard);
    const { update } = (await guarded!.invoke({
      id: 'c1',
      name: 'look_up',
      args: {},
      type: 'tool_call',
    })) as Command & { update: { note: string; messages: BaseMessage[] } };
    assert.equal(update.note, MASKED);
    assert.equal(update.messages[0]?.text, MASKED);
    assert.equal(update.messages[1]?.text, 'Noted.');
  },
  'a message with a role of its own, and a file of text': async () => {
    const ask = (message: BaseMessage) =>
      guardLangChainModel(answerWith(new AIMessage('Noted.')), guard).invoke([message]);
    await assert.rejects(ask(new ChatMessage(`Use key ${KEY}`, 'user')), /secret/);
    const data = Buffer.from(`Use key ${KEY}`).toString('base64');
    const file = { type: 'file', mimeType: 'text/plain', data };
    await assert.rejects(ask(new HumanMessage({ content: [file] as never })), /secret/);
    assert.equal((await ask(new HumanMessage('hello'))).text, 'Noted.');
  },
  'a chain': async () => {
    const chain = answerWith(new AIMessage(SECRET)).pipe((message: BaseMessage) => message);
    assert.throws(() => guardLangChainModel(chain, guard), /Guard the model before you add it to a chain/);
  },
};

await tryWays(ways);
