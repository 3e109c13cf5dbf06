/** A model server on loopback for tests of the advisors. It has both wire formats, and answers from a list. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** One answer: text, or a fault of the server. */
export type ScriptedAnswer =
  | string
  | { readonly text: string; readonly is_cut: true }
  | { readonly status: number; readonly body?: object; readonly headers?: Readonly<Record<string, string>> }
  | 'reset'
  | 'silence'
  | 'not-json';

/** A request as the server received it. */
export interface ReceivedQuestion {
  readonly path: string;
  readonly authorization: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of both formats.
  readonly body: any;
  /** The text of all messages, joined. */
  readonly prompt: string;
}

export interface ModelServer {
  readonly url: string;
  readonly questions: ReceivedQuestion[];
  /** Resolves when the next question has arrived. */
  readonly nextQuestion: () => Promise<void>;
  /** Resolves when a client closed its connection before the answer. */
  readonly disconnected: Promise<void>;
  readonly answerWith: (...answers: ScriptedAnswer[]) => void;
  readonly close: () => void;
}

export const MODEL = 'advisor-test:1b';
/** Concatenated, so that no secret scanner of repositories reports it. */
export const MODEL_KEY = ['test', 'key', '0123456789abcdef'].join('-');

/** Options: with `key`, other credentials are refused with 401. Other models than `MODEL` are 404 in both formats. */
export interface ModelServerOptions {
  readonly key?: string;
}

/** Starts the server. Answers are used in order; the last one is repeated. */
export async function startModelServer(
  t: Pick<TestContext, 'after'> | null,
  answers: readonly ScriptedAnswer[] = ['Nothing to add.'],
  { key }: ModelServerOptions = {},
): Promise<ModelServer> {
  const questions: ReceivedQuestion[] = [];
  const waiting: (() => void)[] = [];
  const sockets = new Set<Socket>();
  let queue = [...answers];
  let leave = () => {};
  const disconnected = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      const { url: path = '', headers } = request;
      const prompt = body.messages.map(({ content }: { content: string }) => content).join('\n');
      questions.push({ path, authorization: headers.authorization ?? null, body, prompt });
      for (const wake of waiting.splice(0)) wake();
      response.on('close', () => {
        if (!response.writableFinished) leave();
      });
      if (key !== undefined && headers.authorization !== `Bearer ${key}`)
        return reply(response, 401, {
          error: { message: 'Incorrect API key provided', code: 'invalid_api_key' },
        });
      if (body.model !== MODEL) return reply(response, 404, describeUnknownModel(path, body.model));
      respond(response, path, queue.length > 1 ? queue.shift()! : queue[0]!);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  t?.after(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    questions,
    nextQuestion: () => new Promise((resolve) => waiting.push(resolve)),
    disconnected,
    answerWith: (...next) => {
      queue = next;
    },
    close,
  };
}

function describeUnknownModel(path: string, model: string): object {
  return path.endsWith('/api/chat')
    ? { error: `model '${model}' not found` }
    : { error: { message: `The model \`${model}\` does not exist`, code: 'model_not_found' } };
}

function respond(response: ServerResponse, path: string, answer: ScriptedAnswer): void {
  if (answer === 'reset') return void response.destroy();
  if (answer === 'silence') return;
  if (answer === 'not-json') return void response.writeHead(200).end('<html>Welcome</html>');
  if (typeof answer !== 'string' && 'status' in answer) {
    reply(response, answer.status, answer.body ?? { error: 'refused' }, answer.headers);
    return;
  }
  const text = typeof answer === 'string' ? answer : answer.text;
  const isCut = typeof answer !== 'string';
  if (path.endsWith('/api/chat')) reply(response, 200, buildLocalAnswer(text, isCut));
  else if (path.endsWith('/chat/completions')) reply(response, 200, buildCompatibleAnswer(text, isCut));
  else reply(response, 404, { error: 'not found' });
}

function buildLocalAnswer(content: string, isCut: boolean): object {
  return {
    model: MODEL,
    created_at: '2026-01-31T12:00:00.000000Z',
    message: { role: 'assistant', content },
    done_reason: isCut ? 'length' : 'stop',
    done: true,
    total_duration: 4_935_886_791,
    prompt_eval_count: 812,
    eval_count: 241,
  };
}

function buildCompatibleAnswer(content: string, isCut: boolean): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_769_860_800,
    model: MODEL,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content },
        finish_reason: isCut ? 'length' : 'stop',
      },
    ],
    usage: { prompt_tokens: 812, completion_tokens: 241, total_tokens: 1_053 },
  };
}

function reply(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
