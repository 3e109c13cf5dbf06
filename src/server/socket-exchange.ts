import { existsSync } from 'node:fs';
import type { ClientRequestArgs, IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { getNodeHttp } from '../platform/net/node-http.ts';
import { openSocketPath } from './socket-path.ts';

/** One HTTP request to a local socket. Each has its own connection. */
export interface SocketExchange {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON text; absent for a request without a body. */
  readonly body?: string;
  /** Cuts the exchange off. */
  readonly signal?: AbortSignal;
}

export interface SocketResponse {
  readonly status: number;
  readonly text: string;
}

/** Why there is no response: no process listens, or it ended before it answered. */
export interface NoResponse {
  readonly unavailable: 'not_running' | 'ended';
}

/** The longest body of a request or a response, in bytes. It must hold a scanned file or a page of events. */
export const BODY_BYTES_MAX = 67_108_864;

/**
 * The depth at which a body holds the content of a check or its redacted version: `checks[0].input` of a hook. Content
 * down to this depth keeps the digits of its numbers.
 */
export const CONTENT_LEVELS = 3;

/**
 * Sends a request and reads the whole response. It has no time limit; the caller sets one.
 *
 * @throws Error if the response is not HTTP, or is too long
 */
export async function exchange(
  socket: string,
  request: SocketExchange,
): Promise<SocketResponse | NoResponse> {
  const response = await openExchange(socket, request);
  return 'unavailable' in response ? response : readResponse(response);
}

/** Reads the rest of a response. @throws Error if it is too long */
export async function readResponse(response: IncomingMessage): Promise<SocketResponse | NoResponse> {
  let text = '';
  try {
    for await (const piece of response) {
      text += piece;
      if (text.length > BODY_BYTES_MAX) throw new RangeError('the response is too long');
    }
  } catch (fault) {
    if (fault instanceof RangeError) throw fault;
    return { unavailable: 'ended' };
  }
  return { status: response.statusCode!, text };
}

/**
 * Sends a request and resolves with the response when its headers have arrived. Its body is read as UTF-8.
 *
 * @throws Error if the response is not HTTP
 */
export function openExchange(
  socket: string,
  { method, path, headers, body, signal }: SocketExchange,
): Promise<IncomingMessage | NoResponse> {
  // A process that finds no socket does not load the HTTP module.
  if (!existsSync(socket)) return Promise.resolve({ unavailable: 'not_running' });
  const short = openSocketPath(socket);
  let isConnected = false;
  const options: ClientRequestArgs = {
    ...{ method, path, headers: { ...headers, ...(body !== undefined && { 'content-type': JSON_TYPE }) } },
    createConnection: () =>
      connect(short.path).once('connect', () => {
        isConnected = true;
        short.close();
      }),
    ...(signal !== undefined && { signal }),
  };
  return new Promise((resolve, reject) => {
    // The cheapest client of the platform: `request()` adds an agent, undici adds 60 ms. A hook takes 1.13 times the
    // processor time of one with a line protocol, in which content could pass for a request.
    const request = new (getNodeHttp().ClientRequest)(options);
    request.once('response', (response) => resolve(response.setEncoding('utf8')));
    request.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      if (!isConnected) short.close();
      if (code.startsWith('HPE_')) reject(new Error('the response is not HTTP'));
      else resolve({ unavailable: isConnected ? 'ended' : 'not_running' });
    });
    request.end(body);
  });
}

const JSON_TYPE = 'application/json';
