/** A server that sends a test's raw text, cut into pieces, over both transports of the protocol. */
import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { getWriteSources } from '../exact-numbers.ts';
import { attachResponseSources, getReadSources } from '../exact-transports.ts';
import type { ServerTransport } from '../transports.ts';

/** An answer as raw text. */
export interface RawAnswer {
  /** The text of the member `result` or `error`, including its name: `"result":{...}`. */
  readonly member: string;
  /** Complete messages that are sent first. */
  readonly before: readonly string[];
}

/** A server whose next answer a test sets. */
export interface RawServer {
  /** Sets the answer to the next request. */
  readonly answer: (method: string, params: unknown) => RawAnswer;
  /** Cuts bytes into pieces. */
  readonly cut: (bytes: Buffer) => readonly Buffer[];
  /** True if HTTP answers are streams. */
  readonly is_stream: () => boolean;
}

const BYTES_MAX = 1_000_000;

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: unknown;
}

/** Returns the messages of a server's answer; none for a notification. */
function answerMessage({ answer }: RawServer, text: string): readonly string[] {
  const { id, method, params } = JSON.parse(text) as Message;
  if (id === undefined) return [];
  const { member, before } = answer(method, params);
  return [...before, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${member}}`];
}

/** Opens the server as a program on stdio. */
export function openLineTransport(server: RawServer): ServerTransport {
  const transport = {
    _readBuffer: {} as { append(chunk: Buffer): void; readMessage(): unknown },
    onmessage: (_message: unknown) => {},
    onclose: () => {},
    start: async () => {},
    close: async () => transport.onclose(),
    send: async (message: object) => {
      const bytes = Buffer.from(
        answerMessage(server, JSON.stringify(message))
          .map((line) => `${line}\n`)
          .join(''),
      );
      for (const piece of server.cut(bytes)) {
        transport._readBuffer.append(piece);
        for (let ahead = true; ahead; ) ahead = pass(transport);
      }
    },
  };
  getWriteSources(getReadSources(transport, { bytes_max: BYTES_MAX }));
  return {
    transport: transport as unknown as Transport,
    reports_changes: true,
    endSession: async () => {},
    close: async () => {},
  };
}

interface MessageReader {
  readonly _readBuffer: { readMessage(): unknown };
  readonly onmessage: (message: unknown) => void;
}

/** Drops messages that the protocol does not define, as the library's own transport does. */
function pass({ _readBuffer, onmessage }: MessageReader): boolean {
  try {
    const message = _readBuffer.readMessage();
    if (message === null) return false;
    onmessage(message);
  } catch {}
  return true;
}

/** Opens the server over HTTP, for the library's own transport. */
export function openHttpTransport(server: RawServer): ServerTransport {
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    if (init?.method !== 'POST') return new Response(null, { status: 405 });
    const answers = answerMessage(server, String(init.body));
    if (answers.length === 0) return new Response(null, { status: 202 });
    const isStream = server.is_stream() || answers.length > 1;
    const text = isStream ? answers.map((data) => `event: message\ndata: ${data}\n\n`).join('') : answers[0]!;
    const body = ReadableStream.from(server.cut(Buffer.from(text)));
    const headers = { 'content-type': isStream ? 'text/event-stream' : 'application/json' };
    return attachResponseSources(new Response(body as never, { headers }), BYTES_MAX);
  };
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    fetch: fetch as never,
  });
  getWriteSources(transport);
  return { transport, reports_changes: false, endSession: async () => {}, close: async () => {} };
}

/** Opens two linked transports that exchange messages as text. */
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
