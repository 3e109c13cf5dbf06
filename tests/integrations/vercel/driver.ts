/** The scenes of scenario.py for Vercel's AI SDK, whole and streamed. Copied next to the files of setup. */
import { generateText, isStepCount, jsonSchema, streamText, tool, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { guardMiddleware, guardTools } from './service-vercel-ai.ts';

interface Seen {
  question: string | null;
  ran_with: string[];
  result: unknown;
  answer: string | null;
  refused: string | null;
}

const KEY = `sk-${'ABCDEF1234567890'}`;
const ADDRESS = `DATABASE_URL=postgresql://${'admin:p4ssw0rd'}@db.internal:5432/prod`;
const SSN = `My social security number is ${['536', '22', '8145'].join('-')}.`;
const SCENES: Readonly<Record<string, readonly [string, string | null, string | null, string]>> = {
  clean: ['What is the weather?', 'Rome', 'Sunny.', 'It is sunny.'],
  input_blocked: [`Use key ${KEY}`, null, null, 'Done.'],
  input_masked: [SSN, null, null, 'Noted.'],
  call_blocked: ['Look it up.', KEY, 'Sunny.', 'I could not.'],
  result_masked: ['Look it up.', 'Rome', ADDRESS, 'There it is.'],
  output_masked: ['What is the setting?', null, null, `It is ${ADDRESS}`],
};

const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };

// biome-ignore lint/suspicious/noExplicitAny: the model sees what the SDK makes of a prompt.
function answerTo(prompt: any, seen: Seen, city: string | null, answer: string) {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const said = (role: string) => prompt.filter((each: any) => each.role === role);
  seen.question = said('user')[0].content[0].text;
  const results = said('tool');
  if (results.length > 0) seen.result = results.at(-1).content[0].output.value;
  return city !== null && results.length === 0
    ? { type: 'tool-call' as const, toolCallId: 'c1', toolName: 'look_up', input: JSON.stringify({ city }) }
    : { type: 'text' as const, text: answer };
}

async function ask(seen: Seen, is_stream: boolean, scene: (typeof SCENES)[string]): Promise<void> {
  const [prompt, city, result, answer] = scene;
  const mock = new MockLanguageModelV4({
    doGenerate: async (options) => {
      const content = answerTo(options.prompt, seen, city, answer);
      const unified = content.type === 'text' ? 'stop' : 'tool-calls';
      return { content: [content], finishReason: { unified, raw: undefined }, usage, warnings: [] } as never;
    },
    doStream: async (options) => {
      const content = answerTo(options.prompt, seen, city, answer);
      const half = answer.length >> 1;
      const chunks =
        content.type === 'text'
          ? [
              { type: 'text-start', id: '1' },
              { type: 'text-delta', id: '1', delta: answer.slice(0, half) },
              { type: 'text-delta', id: '1', delta: answer.slice(half) },
              { type: 'text-end', id: '1' },
            ]
          : [content];
      const unified = content.type === 'text' ? 'stop' : 'tool-calls';
      const end = { type: 'finish', finishReason: { unified, raw: undefined }, usage };
      return { stream: simulateReadableStream({ chunks: [...chunks, end] }) } as never;
    },
  });
  const look_up = tool({
    description: 'Looks something up.',
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    }),
    execute: async (input) => {
      seen.ran_with.push(input.city);
      return result;
    },
  });
  const options = {
    model: wrapLanguageModel({ model: mock, middleware: guardMiddleware() }),
    tools: guardTools({ look_up }),
    stopWhen: isStepCount(3),
    prompt,
    maxRetries: 0,
  };
  if (!is_stream) {
    seen.answer = (await generateText(options)).text;
    return;
  }
  let failed: unknown = null;
  const streamed = streamText({
    ...options,
    onError: ({ error }) => {
      failed = error;
    },
  });
  let text = '';
  for await (const piece of streamed.textStream) text += piece;
  if (failed !== null) throw failed;
  seen.answer = text;
}

const outcomes: Record<string, Seen> = {};
for (const is_stream of [false, true])
  for (const [name, scene] of Object.entries(SCENES)) {
    const seen: Seen = { question: null, ran_with: [], result: null, answer: null, refused: null };
    await ask(seen, is_stream, scene).catch((error: Error) => {
      seen.refused = error.message;
    });
    outcomes[`${name}${is_stream ? '_streamed' : ''}`] = seen;
  }
console.log(JSON.stringify(outcomes));
