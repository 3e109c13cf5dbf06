import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LlmReply } from '../../gateways/llm/llm-call.ts';
import { describeFault } from '../../platform/log.ts';
import type { ErrorLog } from '../web/errors.ts';

export interface ModelResponsePorts {
  readonly log: ErrorLog;
  readonly silent_ms: number;
  /** Returns the events that end a stream after an internal error. */
  readonly errorEvents?: () => string;
}

/** Writes a response: whole, or in pieces as fast as the client reads. */
export async function writeModelResponse(
  { status, headers, body }: LlmReply,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ModelResponsePorts,
): Promise<void> {
  const all = { ...groupByName(headers), ...reply.getHeaders() } as OutgoingHttpHeaders;
  const { raw } = reply;
  const isWhole = typeof body === 'string' || body instanceof Uint8Array;
  raw.writeHead(status, isWhole ? { ...all, 'content-length': Buffer.byteLength(body) } : all);
  // The framework's `send` would copy the headers again and wrap the stream. An invalid header throws before this line
  // and is handled as any other error.
  reply.hijack();
  if (isWhole) {
    raw.end(body);
    return;
  }
  raw.flushHeaders();
  await pumpBody(body, raw, request, parts);
}

async function pumpBody(
  body: AsyncGenerator<string>,
  raw: ServerResponse,
  request: FastifyRequest,
  { log, silent_ms, errorEvents }: ModelResponsePorts,
): Promise<void> {
  try {
    for await (const text of body) {
      if (raw.destroyed) return;
      if (!raw.write(text)) await waitForDrain(raw, silent_ms);
    }
  } catch (fault) {
    log.error('a stream met a fault', { request_id: request.id, ...describeFault(fault) });
    if (errorEvents !== undefined) raw.write(errorEvents());
  }
  raw.end();
}

/**
 * Waits until the client reads the written bytes or disconnects. A client that reads nothing for `silent_ms` is
 * disconnected.
 */
async function waitForDrain(raw: ServerResponse, silentMs: number): Promise<void> {
  if (raw.destroyed) return;
  const watchdog = setTimeout(() => raw.destroy(), silentMs);
  const gone = new AbortController();
  try {
    await Promise.race([
      once(raw, 'drain', { signal: gone.signal }),
      once(raw, 'close', { signal: gone.signal }),
    ]);
  } finally {
    clearTimeout(watchdog);
    gone.abort();
  }
}

/** Converts alternating names and values to a record. A repeated name gets a list. */
function groupByName(pairs: readonly string[]): Record<string, string | string[]> {
  const named: Record<string, string | string[]> = {};
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const name = pairs[at]!.toLowerCase();
    const value = pairs[at + 1]!;
    const before = named[name];
    named[name] = before === undefined ? value : [before, value].flat();
  }
  return named;
}
