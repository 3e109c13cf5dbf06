/**
 * A model with scripted answers over the four APIs that coding agents use, which counts requests. It repeats its answer
 * whatever it receives, so that an agent that retries or loops is detected.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Call {
  /** The tool's name; or, after `*`, its end: the request has the whole name. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string>>;
  /** The tool's namespace, in the API that has them. */
  readonly namespace?: string;
}

/** The content of every answer: a text, then calls. */
export interface Script {
  readonly text: string;
  readonly calls: readonly Call[];
  /** Answers a request that contains this with the text alone. By default every answer has the calls. */
  readonly until?: string;
}

export interface ScriptedModel {
  readonly url: string;
  /** Returns the bodies of all requests for an answer since the last `play`. */
  readonly asked: () => readonly string[];
  readonly play: (script: Script) => void;
  readonly close: () => void;
}

/** The format of an answer of one API, as server-sent events. */
interface Api {
  readonly path: RegExp;
  readonly write: (script: Script, model: string) => readonly string[];
}

const named = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const unnamed = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

const messages: Api = {
  path: /\/v1\/messages(?:\?|$)/,
  write: ({ text, calls }, model) => {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const head = { id: 'msg_1', type: 'message', role: 'assistant', model, usage };
    const blocks = [
      { block: { type: 'text', text: '' }, delta: { type: 'text_delta', text } },
      ...calls.map(({ tool, arguments: given }, at) => ({
        block: { type: 'tool_use', id: `toolu_${at}`, name: tool, input: {} },
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(given) },
      })),
    ];
    const stopReason = calls.length > 0 ? 'tool_use' : 'end_turn';
    return [
      named('message_start', { message: { ...head, content: [], stop_reason: null, stop_sequence: null } }),
      ...blocks.flatMap(({ block, delta }, index) => [
        named('content_block_start', { index, content_block: block }),
        named('content_block_delta', { index, delta }),
        named('content_block_stop', { index }),
      ]),
      named('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage }),
      named('message_stop', {}),
    ];
  },
};

const responses: Api = {
  path: /\/responses$/,
  write: ({ text, calls }) => {
    const said = { type: 'message', id: 'm_1', role: 'assistant', content: [{ type: 'output_text', text }] };
    const items = [
      said,
      ...calls.map(({ tool, namespace, arguments: given }, at) => ({
        type: 'function_call',
        namespace,
        id: `fc_${at}`,
        call_id: `call_${at}`,
        name: tool,
        arguments: JSON.stringify(given),
      })),
    ];
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    return [
      { type: 'response.created', response: { id: 'resp_1' } },
      ...items.map((item, outputIndex) => ({
        type: 'response.output_item.done',
        output_index: outputIndex,
        item,
      })),
      { type: 'response.completed', response: { id: 'resp_1', usage } },
    ].map(({ type, ...data }, sequenceNumber) => named(type, { ...data, sequence_number: sequenceNumber }));
  },
};

const chat: Api = {
  path: /\/chat\/completions$/,
  write: ({ text, calls }, model) => {
    const chunk = { id: 'c_1', object: 'chat.completion.chunk', created: 1, model };
    const saying = (delta: object, finishReason: string | null = null) =>
      unnamed({ ...chunk, choices: [{ index: 0, delta, finish_reason: finishReason }] });
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    return [
      saying({ role: 'assistant', content: text }),
      ...calls.map(({ tool, arguments: given }, index) =>
        saying({
          tool_calls: [
            {
              index,
              id: `call_${index}`,
              type: 'function',
              function: { name: tool, arguments: JSON.stringify(given) },
            },
          ],
        }),
      ),
      saying({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      unnamed({ ...chunk, choices: [], usage }),
      'data: [DONE]\n\n',
    ];
  },
};

const gemini: Api = {
  path: /:streamGenerateContent/,
  write: ({ text, calls }) => {
    const parts = [
      { text },
      ...calls.map((call) => ({ functionCall: { name: call.tool, args: call.arguments } })),
    ];
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    return parts.map((part, at) => {
      const finish = at === parts.length - 1 ? { finishReason: 'STOP' } : {};
      const candidate = { index: 0, content: { role: 'model', parts: [part] }, ...finish };
      return unnamed({ candidates: [candidate], usageMetadata });
    });
  },
};

const APIS = [messages, responses, chat, gemini];

/** Returns the script with whole tool names, and without calls that are done or that the request does not offer. */
function fitScript({ text, calls, until }: Script, request: string): Script {
  if (until !== undefined && request.includes(until)) return { text, calls: [] };
  const namespace = /"type":"namespace","name":"(mcp__\w+)"/.exec(request)?.[1];
  const named = calls.flatMap((call) => {
    if (!call.tool.startsWith('*')) return [call];
    const name = new RegExp(`"name":"([\\w.-]*?${call.tool.slice(1)})"`).exec(request)?.[1];
    return name === undefined ? [] : [{ ...call, tool: name, ...(namespace !== undefined && { namespace }) }];
  });
  return { text, calls: named };
}

/** Starts a model on a free port of this machine. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  let script: Script = { text: '', calls: [] };
  let asked: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const api = APIS.find(({ path }) => path.test(request.url ?? ''));
    if (api === undefined || request.method !== 'POST') {
      const counted = /count_?tokens/i.test(request.url ?? '');
      response.writeHead(counted ? 200 : 404, { 'content-type': 'application/json' });
      response.end(
        counted ? '{"input_tokens":1,"totalTokens":1}' : '{"error":{"message":"There is no such route."}}',
      );
      return;
    }
    asked.push(text);
    const { model = 'm' } = JSON.parse(text) as { model?: string };
    const events = api.write(fitScript(script, text), model);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    play: (next) => {
      script = next;
      asked = [];
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
