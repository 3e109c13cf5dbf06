import { once } from 'node:events';
import type { FastifyReply } from 'fastify';
import { escapeLineEnds } from '../../../core/json/line-json.ts';
import type { EventFrame } from '../../../runtime/audit/events/types.ts';
import type { AdmittedSubscriber, EventPorts } from './admit-subscriber.ts';
import { type EventConnection, openSubscriber } from './subscriber.ts';

const frame: EventFrame = {
  name: 'server_sent',
  bytes: ({ event, json }) => Buffer.from(`id: ${event.event_id}\ndata: ${escapeLineEnds(json)}\n\n`),
};

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Asks proxies not to buffer the response.
  'x-accel-buffering': 'no',
};
/** Time in milliseconds after which a browser reconnects. */
const RETRY_MS = 2_000;
/** Time in milliseconds that a reader which reads nothing has before its connection is destroyed. */
const END_MS = 2_000;

/** Answers with events as long as the client reads. Resolves when the first event can be sent. */
export async function openServerSent({
  reply,
  admitted,
  ports,
}: {
  readonly reply: FastifyReply;
  readonly admitted: AdmittedSubscriber;
  readonly ports: EventPorts;
}): Promise<void> {
  const { raw } = reply;
  const line: EventConnection = {
    frame,
    write: (bytes) => void raw.write(bytes),
    waitingBytes: () => raw.writableLength,
    drained: async () => {
      const gone = new AbortController();
      await Promise.race(['drain', 'close'].map((name) => once(raw, name, gone))).catch(() => {});
      gone.abort();
    },
    beat: () => void raw.write(admitted.text_heartbeat ? writeHeartbeat() : ':\n\n'),
    end: () => {
      raw.end();
      setTimeout(() => raw.destroy(), END_MS).unref();
    },
  };
  const reader = await openSubscriber(line, admitted, ports);
  raw.once('close', reader.stop);
  if (raw.destroyed) return reader.stop();
  reply.hijack();
  // The connection is silent while there are no events.
  raw.socket?.setTimeout(0);
  raw.writeHead(200, { ...reply.getHeaders(), ...HEADERS } as Record<string, string>);
  raw.write(`retry: ${RETRY_MS}\n\n`);
  reader.begin();
}

function writeHeartbeat(): string {
  return `event: heartbeat\ndata: ${JSON.stringify({ type: 'heartbeat', timestamp: new Date().toISOString() })}\n\n`;
}
