/** The providers' own SDKs read answers in this process; `fetch` returns the bytes to read. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { Came, Oracle, OracleName, Sight } from './sight.ts';

let current: Came = { status: 200, type: 'application/json', body: '{}' };
const serve = async () =>
  new Response(current.body, { status: current.status, headers: { 'content-type': current.type } });
// Google's SDK has no option for another `fetch`.
globalThis.fetch = serve as typeof fetch;

const quiet = { maxRetries: 0, fetch: serve as typeof fetch, apiKey: 'k', logLevel: 'off' as const };
const openai = new OpenAI(quiet);
const anthropic = new Anthropic(quiet);
const google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: 'http://127.0.0.1' } });

// biome-ignore lint/suspicious/noExplicitAny: what a hostile provider sends has no type.
type UntypedValue = any;
type SightReader = (sight: Sight, isStream: boolean) => Promise<void>;

const messages: UntypedValue = [{ role: 'user', content: 'Hello.' }];

const readers: Readonly<Record<OracleName, SightReader>> = {
  'openai.chat': async (sight, isStream) => {
    const body = { model: 'm', messages };
    if (!isStream) return seeCompletion(sight, await openai.chat.completions.create(body));
    const stream = openai.chat.completions.stream(body);
    try {
      for await (const chunk of stream) {
        for (const { delta } of (chunk.choices ?? []) as UntypedValue[])
          for (const call of delta?.tool_calls ?? [])
            seeTool(sight, call?.function?.name ?? call?.custom?.name);
      }
      seeCompletion(sight, await stream.finalChatCompletion());
    } finally {
      seeCompletion(sight, stream.currentChatCompletionSnapshot);
    }
  },
  'openai.completions': async (sight, isStream) => {
    const body = { model: 'm', prompt: 'Hello.' };
    if (!isStream) {
      const { choices } = (await openai.completions.create(body)) as UntypedValue;
      sight.texts.push(...choices.map(({ text }: UntypedValue) => `${text}`));
      return;
    }
    let text = '';
    try {
      for await (const { choices } of await openai.completions.create({ ...body, stream: true }))
        text += choices?.[0]?.text ?? '';
    } finally {
      sight.texts.push(text);
    }
  },
  'openai.responses': async (sight, isStream) => {
    const body = { model: 'm', input: 'Hello.' };
    if (!isStream) return seeResponse(sight, await openai.responses.create(body));
    const stream = openai.responses.stream(body);
    let snapshot: UntypedValue = null;
    let said = '';
    try {
      for await (const event of stream as UntypedValue) {
        if (event.type === 'response.output_text.delta') said += event.delta;
        if (event.type === 'response.output_item.done') seeItems(sight, [event.item]);
        if (event.type === 'response.output_item.added') seeItems(sight, [event.item]);
        if (event.response !== undefined) snapshot = event.response;
      }
      seeResponse(sight, await stream.finalResponse());
    } finally {
      sight.texts.push(said);
      seeResponse(sight, snapshot);
    }
  },
  'anthropic.messages': async (sight, isStream) => {
    const body = { model: 'm', messages, max_tokens: 10 };
    if (!isStream) return seeMessage(sight, await anthropic.messages.create(body));
    const stream = anthropic.messages.stream(body);
    let said = '';
    stream.on('text', (text) => {
      said += text;
    });
    stream.on('contentBlock', (block) => seeMessage(sight, { content: [block] }));
    try {
      seeMessage(sight, await stream.finalMessage());
    } finally {
      sight.texts.push(said);
      seeMessage(sight, stream.currentMessage);
    }
  },
  'gemini.generate': async (sight, isStream) => {
    const ask = { model: 'm', contents: 'Hello.' };
    if (!isStream) return seeGenerated(sight, [await google.models.generateContent(ask)]);
    const chunks: UntypedValue[] = [];
    try {
      for await (const chunk of await google.models.generateContentStream(ask)) chunks.push(chunk);
    } finally {
      seeGenerated(sight, chunks);
    }
  },
};

function seeTool(sight: Sight, name: unknown): void {
  if (typeof name === 'string' && name !== '') sight.tools.push(name);
}

function seeCompletion(sight: Sight, completion: UntypedValue): void {
  for (const choice of completion?.choices ?? []) {
    const { content, refusal, tool_calls, function_call } = choice?.message ?? {};
    sight.texts.push(`${content}`, `${refusal}`);
    for (const call of tool_calls ?? []) {
      seeTool(sight, call?.function?.name);
      seeTool(sight, call?.custom?.name);
    }
    seeTool(sight, function_call?.name);
  }
}

function seeResponse(sight: Sight, response: UntypedValue): void {
  if (response === null || response === undefined) return;
  sight.texts.push(`${response.output_text}`);
  seeItems(sight, response.output ?? []);
  const parts = (response.output ?? []).flatMap((item: UntypedValue) => item?.content ?? []);
  sight.texts.push(parts.map((part: UntypedValue) => part?.text ?? part?.refusal ?? '').join(''));
}

function seeItems(sight: Sight, items: UntypedValue): void {
  for (const item of items) {
    if (/_call$/.test(item?.type)) seeTool(sight, item.name);
    for (const part of item?.content ?? []) sight.texts.push(`${part?.text}`, `${part?.refusal}`);
  }
}

function seeMessage(sight: Sight, message: UntypedValue): void {
  const blocks: UntypedValue[] = Array.isArray(message?.content) ? message.content : [];
  for (const block of blocks) {
    if (block?.type === 'tool_use') seeTool(sight, block.name);
    sight.texts.push(`${block?.text}`, `${block?.thinking}`);
  }
  for (const type of ['text', 'thinking'])
    sight.texts.push(blocks.map((block) => (block?.type === type ? block[type] : '')).join(''));
}

function seeGenerated(sight: Sight, chunks: readonly UntypedValue[]): void {
  const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
  sight.texts.push(chunks.map((chunk) => chunk.text ?? '').join(''));
  sight.texts.push(parts.map((part) => part?.text ?? '').join(''));
  for (const part of parts) sight.texts.push(`${part?.text}`);
  for (const chunk of chunks)
    for (const call of [...(chunk.functionCalls ?? []), ...parts.map((part) => part?.functionCall)])
      seeTool(sight, call?.name);
}

/** Reads with one SDK at a time, because all of them share the answer of `fetch`. */
export const oracle: Oracle = async (wire, came) => {
  const sight: Sight = { texts: [], tools: [] };
  current = came;
  try {
    await readers[wire](sight, came.type.startsWith('text/event-stream'));
  } catch {
    // If an SDK throws, the result is what it had returned before.
  }
  return sight;
};
