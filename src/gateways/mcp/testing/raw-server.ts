/** A server that answers with the text that a test gives it, cut into pieces, over both transports of the protocol. */
import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { writeSourcesOf } from '../exact-numbers.ts';
import { attachResponseSources, readSourcesOf } from '../exact-transports.ts';
import type { ServerTransport } from '../transports.ts';

export interface RawAnswer {
  /** The text of the member `result`, or `error`, with its name: `"result":{...}`. */
  readonly member: string;
  /** Messages that come first, whole. */
  readonly before: readonly string[];
}

export interface RawServer {
  /** What is asked next is answered so. */
  readonly answer: (method: string, params: unknown) => RawAnswer;
  /** Cuts bytes into pieces. */
  readonly cut: (bytes: Buffer) => readonly Buffer[];
  /** Whether answers over HTTP are streams. */
  readonly is_stream: () => boolean;
}

const BYTES_MAX = 1_000_000;

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: unknown;
}

/** The messages with which a server answers; none for a notification. */
function answersTo({ answer }: RawServer, text: string): readonly string[] {
  const { id, method, params } = JSON.parse(text) as Message;
  if (id === undefined) return [];
  const { member, before } = answer(method, params);
  return [...before, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${member}}`];
}

/** As a program on standard input and output has it. */
export function openLineTransport(server: RawServer): ServerTransport {
  const transport = {
    _readBuffer: {} as { append(chunk: Buffer): void; readMessage(): unknown },
    onmessage: (_message: unknown) => {},
    onclose: () => {},
    start: async () => {},
    close: async () => transport.onclose(),
    send: async (message: object) => {
      const bytes = Buffer.from(
        answersTo(server, JSON.stringify(message))
          .map((line) => `${line}\n`)
          .join(''),
      );
      for (const piece of server.cut(bytes)) {
        transport._readBuffer.append(piece);
        for (let ahead = true; ahead; ) ahead = pass(transport);
      }
    },
  };
  writeSourcesOf(readSourcesOf(transport, BYTES_MAX));
  return {
    transport: transport as unknown as Transport,
    reports_changes: true,
    endSession: async () => {},
    close: async () => {},
  };
}

interface Reading {
  readonly _readBuffer: { readMessage(): unknown };
  readonly onmessage: (message: unknown) => void;
}

/** What the protocol does not know is left out, as the library's own transport does. */
function pass({ _readBuffer, onmessage }: Reading): boolean {
  try {
    const message = _readBuffer.readMessage();
    if (message === null) return false;
    onmessage(message);
  } catch {}
  return true;
}

/** As a server over HTTP has it, by the library's own transport. */
export function openHttpTransport(server: RawServer): ServerTransport {
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    if (init?.method !== 'POST') return new Response(null, { status: 405 });
    const answers = answersTo(server, String(init.body));
    if (answers.length === 0) return new Response(null, { status: 202 });
    const is_stream = server.is_stream() || answers.length > 1;
    const text = is_stream
      ? answers.map((data) => `event: message\ndata: ${data}\n\n`).join('')
      : answers[0]!;
    const body = ReadableStream.from(server.cut(Buffer.from(text)));
    const headers = { 'content-type': is_stream ? 'text/event-stream' : 'application/json' };
    return attachResponseSources(new Response(body as never, { headers }), BYTES_MAX);
  };
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    fetch: fetch as never,
  });
  writeSourcesOf(transport);
  return { transport, reports_changes: false, endSession: async () => {}, close: async () => {} };
}

/** Two ends of a wire on which messages are texts, as on any wire. */
export function openTextTransportPair(seen: (text: string) => void): readonly [Transport, Transport] {
  const end = (): Transport & { other: Transport } => {
    const one = {
      other: null as unknown as Transport,
      start: async () => {},
      close: async () => one.onclose?.(),
      send: async (message: unknown) => {
        const text = JSON.stringify(message);
        seen(text);
        queueMicrotask(() => one.other.onmessage?.(JSON.parse(text)));
      },
    } as Transport & { other: Transport };
    return one;
  };
  const [left, right] = [end(), end()];
  left.other = right;
  right.other = left;
  return [left, right];
}
