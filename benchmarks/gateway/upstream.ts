/**
 * A model provider of the OpenAI format, in its own process, with a response time of 20 ms. Prints its port.
 * `run.ts` starts it.
 *
 * Requests with `"stream":true` get events: a first piece of text after 20 ms, then further pieces at fixed
 * intervals (`x-bench-pieces`, `x-bench-gap-ms`). Other requests get one whole response.
 */
import { createServer, type ServerResponse } from 'node:http';
import { TEXT } from './texts.ts';

const THINKS_MS = 20;

const answer = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'gpt-5',
  choices: [{ index: 0, message: { role: 'assistant', content: TEXT.slice(0, 256) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 256, completion_tokens: 64, total_tokens: 320 },
});

function chunk(delta: object, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  const head = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-5',
  };
  return `data: ${JSON.stringify({ ...head, choices })}\n\n`;
}

const FIRST = chunk({ role: 'assistant', content: TEXT.slice(0, 64) });
const PIECE = chunk({ content: ' and the plan for' });
const LAST = `${chunk({}, 'stop')}data: [DONE]\n\n`;

function stream(response: ServerResponse, pieces: number, gapMs: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write(FIRST);
  let left = pieces;
  const timer = setInterval(() => {
    if (left-- > 0) return void response.write(PIECE);
    clearInterval(timer);
    response.end(LAST);
  }, gapMs);
  response.once('close', () => clearInterval(timer));
}

const server = createServer((request, response) => {
  let isStream = false;
  let tail = '';
  request.on('data', (bytes: Buffer) => {
    // The flag is at the beginning of our own body, or anywhere in a body that a gateway has rewritten.
    if (isStream) return;
    const text = tail + bytes.toString('latin1');
    isStream = /"stream":\s*true/.test(text);
    tail = text.slice(-16);
  });
  request.on('end', () => {
    const { 'x-bench-pieces': pieces = '8', 'x-bench-gap-ms': gapMs = '5' } = request.headers;
    setTimeout(() => {
      if (isStream) return stream(response, Number(pieces), Number(gapMs));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
      response.end(answer);
    }, THINKS_MS);
  });
});
server.keepAliveTimeout = 60_000;
server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }, () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' && address !== null ? address.port : 0}\n`);
});
