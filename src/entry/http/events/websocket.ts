import { once } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { findUnavailableRefusal } from '../../../operations/call.ts';
import { Refusal } from '../../../operations/operation.ts';
import { assertWithinScope, parseStreamRequest } from '../../../operations/stream.ts';
import { describeFault } from '../../../platform/log.ts';
import type { EventFrame } from '../../../runtime/audit/events/types.ts';
import { type AdmittedSubscriber, EVENTS_SUBPROTOCOL, type EventPorts } from './admit-subscriber.ts';
import {
  buildUnknownEventRefusal,
  type EventConnection,
  type EventSubscriber,
  openSubscriber,
  type SubscriberEndReason,
} from './subscriber.ts';
import type { Upgrade } from './upgrade.ts';

const frame: EventFrame = { name: 'websocket', bytes: ({ json }) => encodeTextFrame(json) };

const MESSAGE_BYTES_MAX = 16_384;
/** Time in milliseconds that the client has to close its side. */
const CLOSE_MS = 2_000;
/** Maximum number of pings without a pong. */
const MISSED_MAX = 3;

const CLOSES: Readonly<Record<SubscriberEndReason | 'silent', readonly [code: number, reason: string]>> = {
  silent: [1001, 'Three heartbeats had no answer.'],
  stopping: [1001, 'The service stops. Connect again, with `after`.'],
  slow: [1013, 'Events were read too slowly. Connect again, with `after`.'],
  fault: [1011, 'The service has a fault. Connect again, with `after`.'],
  credential: [1008, 'The credential is no longer valid.'],
};

const server = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MESSAGE_BYTES_MAX,
  handleProtocols: (offered) => offered.has(EVENTS_SUBPROTOCOL) && EVENTS_SUBPROTOCOL,
});

interface UpgradeRequest {
  readonly upgrade: Upgrade;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly admitted: AdmittedSubscriber;
  readonly ports: EventPorts;
}

/** Upgrades a connection to a WebSocket and serves it. Throws a `Refusal` while the connection is still HTTP. */
export async function openWebSocket({
  upgrade,
  request,
  reply,
  admitted,
  ports,
}: UpgradeRequest): Promise<void> {
  refuseHandshake(request);
  const { socket, head, response } = upgrade;
  let open: WebSocket | null = null;
  const state = { missed: 0 };
  const line: EventConnection = {
    frame,
    // All readers of the same event share its bytes. The library would frame them again for each reader.
    write: (bytes) => void (open?.readyState === open?.OPEN && socket.write(bytes)),
    waitingBytes: () => socket.writableLength,
    drained: async () => {
      const gone = new AbortController();
      await Promise.race(['drain', 'close'].map((name) => once(socket, name, gone))).catch(() => {});
      gone.abort();
    },
    beat: () => {
      if (open === null || open.readyState !== open.OPEN) return;
      if (state.missed >= MISSED_MAX) return closeSubscriber(open, 'silent');
      state.missed += 1;
      open.ping();
      if (admitted.text_heartbeat)
        open.send(JSON.stringify({ type: 'heartbeat', timestamp: new Date().toISOString() }));
    },
    end: (why) => open !== null && closeSubscriber(open, why),
  };
  const reader = await openSubscriber(line, admitted, ports);
  reply.hijack();
  response.detachSocket(socket);
  socket.setTimeout(0);
  server.handleUpgrade(request.raw, socket, head, (made) => {
    open = made;
    made.on('pong', () => {
      state.missed = 0;
    });
    // Pongs must not accumulate for a client that sends pings and reads nothing.
    made.on('ping', () => line.waitingBytes() > MESSAGE_BYTES_MAX && made.terminate());
    made.on('error', () => made.terminate());
    made.once('close', reader.stop);
    takeMessages(made, reader, admitted, ports);
    reader.begin();
  });
  // The client has disconnected in the meantime.
  if (open === null) reader.stop();
}

function closeSubscriber(open: WebSocket, why: SubscriberEndReason | 'silent'): void {
  closeWith(open, ...CLOSES[why]);
}

/** Closes a WebSocket. The client may be gone or read nothing, so the wait for its close is short. */
function closeWith(open: WebSocket, code: number, reason: string): void {
  open.close(code, reason);
  setTimeout(() => open.terminate(), CLOSE_MS).unref();
}

/** Refuses an invalid handshake early. The library would find it only after the reader was started. */
function refuseHandshake({ raw: { headers } }: FastifyRequest): void {
  const hasKey = /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '');
  if (!hasKey || headers['sec-websocket-version'] !== '13')
    throw new Refusal('invalid_request', 'This is not the handshake of a WebSocket of version 13.');
}

/**
 * Handles messages of the client. Each message replaces the previous request; the first one may name the event to
 * continue after.
 */
function takeMessages(
  open: WebSocket,
  reader: EventSubscriber,
  admitted: AdmittedSubscriber,
  { log }: EventPorts,
): void {
  let mayResume = admitted.request.after === null;
  let taken: Promise<void> = Promise.resolve();
  const take = async (text: string): Promise<void> => {
    const { filter, after } = parseStreamRequest(parseObject(text));
    assertWithinScope(filter, admitted.scope);
    const narrowed = { ...filter, ...admitted.request.filter };
    for (const [name, value] of Object.entries(filter)) {
      if (narrowed[name as keyof typeof filter] !== value)
        throw new Refusal('invalid_request', `\`${name}\` is another than in the address.`);
    }
    if (after !== null && !mayResume)
      throw new Refusal('invalid_request', '`after` belongs into the first message, or into the address.');
    mayResume = false;
    if (!(await reader.subscription.narrow(narrowed, after))) throw buildUnknownEventRefusal();
  };
  open.on('message', (data, isBinary) => {
    taken = taken
      .then(() => (isBinary ? Promise.reject(buildNotJsonRefusal()) : take(data.toString())))
      .catch((error: unknown) => {
        const refusal = error instanceof Refusal ? error : findUnavailableRefusal(error);
        if (refusal === null) log.error('a message of a reader met a fault', describeFault(error));
        if (refusal === null) return closeSubscriber(open, 'fault');
        reader.stop();
        open.send(JSON.stringify({ error: refusal.message, code: refusal.code }));
        closeWith(open, 1008, refusal.code);
      });
  });
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw buildNotJsonRefusal();
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw buildNotJsonRefusal();
  return value as Record<string, unknown>;
}

function buildNotJsonRefusal(): Refusal {
  return new Refusal('invalid_request', 'A message is one JSON object.');
}

/** Encodes a text message as an unmasked frame (RFC 6455, 5.2). */
function encodeTextFrame(text: string): Buffer {
  const TEXT = 0x81;
  const bytes = Buffer.byteLength(text);
  const head = bytes < 126 ? 2 : bytes < 65_536 ? 4 : 10;
  const framed = Buffer.allocUnsafe(head + bytes);
  framed[0] = TEXT;
  if (head === 2) framed[1] = bytes;
  else if (head === 4) {
    framed[1] = 126;
    framed.writeUInt16BE(bytes, 2);
  } else {
    framed[1] = 127;
    framed.writeBigUInt64BE(BigInt(bytes), 2);
  }
  framed.write(text, head);
  return framed;
}
