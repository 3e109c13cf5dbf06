/** The event stream over HTTP, with real clients as readers and events that a test emits. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { WebSocket } from 'ws';
import { type EventHub, openEventHub } from '../../../runtime/audit/events/hub.ts';
import { buildStreamedEvent } from '../../../runtime/audit/events/streamed.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import { type ServeOptions, serve, type TestServer } from './serve.ts';

/** The state folder of the servers of one test file. */
export const scratch = mkdtempSync(join(tmpdir(), 'events-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** The server with an event hub that the test feeds in place of the parent. */
export interface Stage {
  readonly service: TestServer;
  readonly tell: (...events: readonly AuditEvent[]) => Promise<void>;
  readonly readers: () => number;
}

/** Runs a test on such a server, and stops it afterwards. */
export async function runOnStage(
  options: Partial<ServeOptions>,
  run: (stage: Stage) => Promise<void>,
): Promise<void> {
  const past: AuditEvent[] = [];
  let turn = 0;
  let wanted = 0;
  const hub: EventHub = openEventHub({
    join: async (next) => {
      turn = next;
      wanted += 1;
      return past.length;
    },
    leave: async () => {
      wanted -= 1;
    },
    read: async (from, to) => ({ events: past.slice(from, to).map(buildStreamedEvent), to }),
    find: async (eventId) => {
      const at = past.findIndex((event) => event.event_id === eventId);
      return at < 0 ? null : { position: at + 1, streamed: buildStreamedEvent(past[at]!) };
    },
    log: { error: (message) => assert.fail(message) },
  });
  const tell = (...events: readonly AuditEvent[]): Promise<void> => {
    const from = past.length;
    past.push(...events);
    const texts = events.map((event) => {
      const { caller_id, json } = buildStreamedEvent(event);
      return { caller_id, json };
    });
    return hub.receive({ turn, from, to: past.length, events: texts });
  };
  const service = await serve({
    state_dir: scratch,
    ...options,
    instead: { ...options.instead, events: async () => hub },
  });
  try {
    await run({ service, tell, readers: () => wanted });
  } finally {
    hub.close();
    await service.close();
  }
}

/** An open WebSocket. */
export interface TestSocket {
  readonly socket: WebSocket;
  readonly events: { readonly agent_id: string }[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Opens a WebSocket and returns it, or the status with which it was refused. */
export function open(
  { port }: TestServer,
  query = '',
  options: { protocols?: string[]; headers?: Record<string, string>; autoPong?: boolean } = {},
): Promise<TestSocket | number> {
  const { protocols = [], headers = {}, autoPong = true } = options;
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/ws/events${query}`, protocols, {
    headers,
    autoPong,
  } as object);
  const events: { agent_id: string }[] = [];
  socket.on('message', (data) => void events.push(JSON.parse(String(data))));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  return new Promise((resolve) => {
    socket.on('open', () => resolve({ socket, events, closed }));
    socket.on('error', () => {});
    socket.on('unexpected-response', (_request, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
}

/** Opens a WebSocket that the server must accept. */
export async function openTestSocket(...request: Parameters<typeof open>): Promise<TestSocket> {
  const outcome = await open(...request);
  assert.ok(typeof outcome === 'object', `refused with ${outcome}`);
  return outcome;
}

/** Reads the lines of a response that does not end. */
export async function readLines(
  { port }: TestServer,
  path: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const request = get({ host: '127.0.0.1', port, path, headers, agent: false });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  assert.equal(answer.statusCode, 200);
  assert.match(answer.headers['content-type'] ?? '', /^text\/event-stream/);
  let text = '';
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  // An aborted request emits an error here.
  request.on('error', () => {});
  const ended = new Promise((resolve) => answer.once('error', resolve).once('close', resolve));
  return { text: () => text, ended, end: () => request.destroy() };
}

/** Opens a WebSocket that reads the 101 response and then nothing. */
export async function openBareReader({ port }: TestServer): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.write(
    [
      'GET /v1/ws/events HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      '\r\n',
    ].join('\r\n'),
  );
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  socket.on('error', () => {});
  return socket;
}
