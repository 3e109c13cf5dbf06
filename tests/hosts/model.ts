/**
 * A model that wants to run one command and accepts any result, over the three APIs that coding agents use. It runs in
 * the process of the test.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Model {
  readonly url: string;
  /** The results of the command that it received, as JSON, in order. */
  readonly results: readonly string[];
  /** Every request for an answer, as JSON. */
  readonly requests: readonly string[];
  /** Sets the command that it requests from now on. */
  want: (command: string) => void;
  readonly close: () => void;
}

interface Turn {
  readonly body: Record<string, unknown>;
  readonly command: string;
  readonly count: number;
}

/** The format of one API for the request of the command, and for the end. */
interface Api {
  readonly path: RegExp;
  /** Returns the agent's last message. */
  readonly last: (body: Record<string, unknown>) => unknown;
  /** The text that marks a message with a result. */
  readonly result: string;
  /** Returns the answer as server-sent events. It calls the tool only if `wants` is `true`. */
  readonly answer: (turn: Turn, wants: boolean) => readonly string[];
}

const DONE = 'All done.';
const getList = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value : []);
const event = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const getData = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

const ANTHROPIC: Api = {
  path: /\/v1\/messages(?:\?|$)/,
  last: ({ messages }) => getList(messages).at(-1),
  result: '"tool_result"',
  answer: ({ body, command, count }, wants) => {
    const block = wants
      ? { type: 'tool_use', id: `toolu_${count}`, name: 'Bash', input: {} }
      : { type: 'text', text: '' };
    const delta = wants
      ? { type: 'input_json_delta', partial_json: JSON.stringify({ command, description: 'what was asked' }) }
      : { type: 'text_delta', text: DONE };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const head = { id: `msg_${count}`, type: 'message', role: 'assistant', model: body.model, usage };
    return [
      event('message_start', { message: { ...head, content: [], stop_reason: null, stop_sequence: null } }),
      event('content_block_start', { index: 0, content_block: block }),
      event('content_block_delta', { index: 0, delta }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: wants ? 'tool_use' : 'end_turn' }, usage }),
      event('message_stop', {}),
    ];
  },
};

const RESPONSES: Api = {
  path: /\/responses$/,
  last: ({ input }) => getList(input).at(-1),
  result: '_call_output"',
  answer: ({ command, count }, wants) => {
    const call = {
      name: 'exec_command',
      arguments: JSON.stringify({ cmd: command }),
      call_id: `call_${count}`,
    };
    const said = { role: 'assistant', content: [{ type: 'output_text', text: DONE }] };
    const item = wants ? { type: 'function_call', id: `fc_${count}`, ...call } : { type: 'message', ...said };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    return [
      event('response.created', { response: { id: `resp_${count}` } }),
      event('response.output_item.done', { item }),
      event('response.completed', { response: { id: `resp_${count}`, usage } }),
    ];
  },
};

const CHAT: Api = {
  path: /\/chat\/completions$/,
  last: ({ messages }) => getList(messages).at(-1),
  result: '"role":"tool"',
  answer: ({ body, command, count }, wants) => {
    const asked = { name: 'bash', arguments: JSON.stringify({ command, description: 'what was asked' }) };
    const toolCalls = [{ index: 0, id: `call_${count}`, type: 'function', function: asked }];
    const delta = { role: 'assistant', ...(wants ? { tool_calls: toolCalls } : { content: DONE }) };
    const chunk = { id: `c_${count}`, object: 'chat.completion.chunk', created: 1, model: body.model };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const finishReason = wants ? 'tool_calls' : 'stop';
    return [
      getData({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }] }),
      getData({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finishReason }], usage }),
      'data: [DONE]\n\n',
    ];
  },
};

const GEMINI: Api = {
  path: /:streamGenerateContent/,
  last: ({ contents }) => getList(contents).at(-1),
  result: '"functionResponse"',
  answer: ({ command }, wants) => {
    const args = { command, description: 'what was asked' };
    const part = wants ? { functionCall: { name: 'run_shell_command', args } } : { text: DONE };
    const content = { role: 'model', parts: [part] };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    return [getData({ candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata })];
  },
};

const APIS = [ANTHROPIC, RESPONSES, CHAT, GEMINI];

/** Listens on a free port of this machine only. */
export async function startModel(): Promise<Model> {
  const results: string[] = [];
  const requests: string[] = [];
  let command = 'true';
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += piece;
    const api = APIS.find(({ path }) => path.test(request.url ?? ''));
    if (api === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    requests.push(text);
    const body = JSON.parse(text) as Record<string, unknown>;
    const last = JSON.stringify(api.last(body) ?? null);
    const hasResult = last.includes(api.result);
    if (hasResult) results.push(last);
    // A side question, such as for a title, has no tools.
    const wants = !hasResult && getList(body.tools).length > 0;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(api.answer({ body, command, count: requests.length }, wants).join(''));
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    results,
    requests,
    want: (next) => {
      command = next;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
