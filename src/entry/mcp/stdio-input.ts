import { once } from 'node:events';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { getReadSources } from '../../gateways/mcp/exact-transports.ts';

/** The time that open requests have to be answered after the end of the input, in milliseconds. */
const ANSWER_MS_MAX = 30_000;

/** An input for a transport that ends when the requests in it are answered. */
export interface StdioInput {
  readonly stream: Readable;
  /** Counts the requests of a transport. Call it when the transport is served. */
  readonly watch: (transport: StdioServerTransport) => void;
  /** Resolves when the input has ended and no request is open, or with the transport. Never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Opens the input of an MCP server. The transport of the MCP library closes with its input, so that the answers to the
 * last requests of a pipe would be lost.
 */
export function openStdioInput(stdin: Readable): StdioInput {
  const stream = new PassThrough();
  const openIds = new Set<string | number>();
  let isAtEnd = false;
  const endIfAnswered = () => {
    if (isAtEnd && openIds.size === 0) stream.destroy();
  };
  const forwardInput = async () => {
    for await (const chunk of stdin) if (!stream.write(chunk)) await once(stream, 'drain');
    setTimeout(() => stream.destroy(), ANSWER_MS_MAX).unref();
    while (stream.readableLength > 0 && !stream.destroyed) await nextTurn();
    isAtEnd = true;
    endIfAnswered();
  };
  forwardInput().catch(() => stream.destroy());
  const ended = once(stream, 'close')
    .catch(() => {})
    .then(() => void stdin.destroy());
  return {
    stream,
    watch: (transport) => {
      const { onmessage, onclose } = transport;
      const send = transport.send.bind(transport);
      transport.onmessage = (message) => {
        countRequest(openIds, message);
        onmessage?.(message);
      };
      transport.send = async (message) => {
        await send(message);
        if (!('id' in message) || 'method' in message || message.id === undefined) return;
        openIds.delete(message.id);
        endIfAnswered();
      };
      transport.onclose = () => {
        stream.destroy();
        onclose?.();
      };
    },
    ended,
  };
}

/** Maximum size of a message in bytes. A longer one is answered with an error. */
const MESSAGE_BYTES_MAX = 16_777_216;

/** Opens the transport of an MCP server, which answers every message that it cannot read with an error. */
export function openStdioTransport(
  stdin: Readable,
  stdout: Writable,
  prepare?: (line: string) => string,
): StdioServerTransport {
  const transport = new StdioServerTransport(stdin, stdout);
  return getReadSources(transport, {
    bytes_max: MESSAGE_BYTES_MAX,
    // The library has no type for a batch, nor for an error without an id.
    answer: (answer) => void transport.send(answer as never).catch(() => {}),
    ...(prepare !== undefined && { prepare }),
  });
}

/** Adds the id of a request that has one answer, which a subscription has not, and removes that of a cancelled one. */
function countRequest(openIds: Set<string | number>, message: JSONRPCMessage): void {
  if (!('method' in message)) return;
  if ('id' in message && message.method !== 'subscriptions/listen') openIds.add(message.id);
  const { requestId } = (message.params ?? {}) as { readonly requestId?: string | number };
  if (message.method === 'notifications/cancelled' && requestId !== undefined) openIds.delete(requestId);
}
