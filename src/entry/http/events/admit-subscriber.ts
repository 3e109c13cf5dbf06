import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../../operations/operation.ts';
import type { Runtime } from '../../../operations/runtime.ts';
import {
  assertWithinScope,
  type EventStreamRequest,
  getStreamScope,
  parseStreamRequest,
} from '../../../operations/stream.ts';
import type { ApiKeys } from '../../../runtime/access/api-keys.ts';
import type { Authenticator } from '../../../runtime/access/index.ts';
import { isOwnOrigin, type Peer } from '../../../runtime/access/peer.ts';
import { identifyUser } from '../../../runtime/access/users.ts';
import type { EventStream, StreamScope } from '../../../runtime/audit/events/types.ts';
import type { ErrorLog } from '../../web/errors.ts';

/** The parts of the service that the event stream needs. */
export interface EventPorts {
  readonly runtime: Runtime;
  readonly authenticate: Authenticator;
  /** Calls a listener when credentials were added or revoked. */
  readonly onAccessChange?: ApiKeys['onChange'] | undefined;
  readonly cors_origins: readonly string[];
  /** Interval in milliseconds of the heartbeats that check whether a reader is still connected. */
  readonly heartbeat_ms: number;
  readonly log: ErrorLog;
}

/** A reader that passed authentication and authorization. */
export interface AdmittedSubscriber {
  readonly stream: EventStream;
  readonly scope: StreamScope;
  readonly request: EventStreamRequest;
  /** `true` if the reader wants heartbeats as messages too. */
  readonly text_heartbeat: boolean;
  /** Resolves whether the credential is still valid, because a stream outlives the check at its start. */
  readonly hasAccess: () => Promise<boolean>;
  /** The interval of that check in milliseconds. */
  readonly access_ms: number;
}

/** The time between two credential checks, because one expires or is revoked at any time. */
const ACCESS_MS = 500;

/**
 * The subprotocol that a client offers next to its credential in `Sec-WebSocket-Protocol`, and that the server selects.
 */
export const EVENTS_SUBPROTOCOL = 'service.events.v1';
const BEARER = 'bearer.';

/** Authenticates a reader and parses its request. Throws a `Refusal` if it may not read. */
export async function admitSubscriber(
  request: FastifyRequest,
  ports: EventPorts,
  over: 'websocket' | 'server_sent',
): Promise<AdmittedSubscriber> {
  const { runtime, cors_origins } = ports;
  if (runtime.events === null)
    throw new Refusal(
      'not_configured',
      'The event stream is read from the index of the audit log: `audit.enabled` is `false`, or `audit.index` is `off`.',
    );
  const { headers } = request.raw;
  // A browser lets any page open a WebSocket on behalf of its user.
  if (over === 'websocket' && !isOwnOrigin(headers, cors_origins))
    throw new Refusal('forbidden', 'Pages of this origin may not read events: see `server.cors_origins`.');
  const peer: Peer = {
    address: request.raw.socket.remoteAddress,
    headers: over === 'websocket' ? withOffered(headers) : headers,
    method: 'GET',
  };
  const reader = await identifyReader(peer, ports);
  const { scope } = reader;
  const { heartbeat, ...requested } = request.query as Readonly<Record<string, unknown>>;
  const followRequest = buildFollowRequest(requested, headers['last-event-id']);
  assertWithinScope(followRequest.filter, scope);
  return {
    stream: await runtime.events(),
    scope,
    request: followRequest,
    text_heartbeat: wantsTextHeartbeat(heartbeat),
    access_ms: Math.min(ACCESS_MS, ports.heartbeat_ms),
    hasAccess: openAccessCheck(peer, reader, ports),
  };
}

interface EventReader {
  readonly scope: StreamScope;
  /** When the credential expires, if it says so itself. */
  readonly expires_ms?: number | undefined;
}

async function identifyReader(peer: Peer, { runtime, authenticate }: EventPorts): Promise<EventReader> {
  const outcome = await authenticate(peer);
  if ('denied' in outcome) throw new Refusal(outcome.denied, outcome.reason);
  const { expires_ms } = outcome;
  const name = peer.headers['x-service-user'];
  if (name === undefined) return { scope: getStreamScope(outcome), expires_ms };
  const user = identifyUser(outcome, typeof name === 'string' ? name : null, runtime.users);
  if ('refused' in user) throw new Refusal(user.refused, user.reason);
  return { scope: getStreamScope(user), expires_ms };
}

/** Verifying a signature is costly, so a signed token is verified again at each heartbeat only, and when it expires. */
function openAccessCheck(
  peer: Peer,
  { scope, expires_ms }: EventReader,
  ports: EventPorts,
): AdmittedSubscriber['hasAccess'] {
  const { now_ms } = ports.runtime;
  let verifiedMs = now_ms();
  return () => {
    const verifyMs = Math.min(verifiedMs + ports.heartbeat_ms, expires_ms ?? 0);
    if (now_ms() < verifyMs) return Promise.resolve(true);
    verifiedMs = now_ms();
    return identifyReader(peer, ports).then(
      (now) => JSON.stringify(now.scope) === JSON.stringify(scope),
      () => false,
    );
  };
}

/**
 * Returns the reader's request. On a reconnect the `EventSource` of a browser names the last event in a header, which
 * is newer than the one in the URL.
 */
function buildFollowRequest(
  requested: Readonly<Record<string, unknown>>,
  lastSeen: string | string[] | undefined,
): EventStreamRequest {
  return parseStreamRequest(
    typeof lastSeen === 'string' && lastSeen !== '' ? { ...requested, after: lastSeen } : requested,
  );
}

function wantsTextHeartbeat(requested: unknown): boolean {
  if (requested === undefined || requested === '') return false;
  if (requested === 'text') return true;
  throw new Refusal('invalid_request', '`heartbeat` must be `text`, or be omitted.');
}

/** Adds the credential that a page offers as a subprotocol to the headers, because a page cannot set headers. */
function withOffered(headers: Peer['headers']): Peer['headers'] {
  const offered = parseProtocols(headers);
  const tokens = offered.filter((name) => name.startsWith(BEARER));
  if (tokens.length === 0) return headers;
  const hasOther = headers.authorization !== undefined || headers['x-service-key'] !== undefined;
  if (tokens.length > 1 || hasOther) throw new Refusal('invalid_request', 'Send one credential.');
  // The answer never repeats the credential, and a browser fails if the answer selects no subprotocol.
  if (!offered.includes(EVENTS_SUBPROTOCOL))
    throw new Refusal(
      'invalid_request',
      `Offer the subprotocol \`${EVENTS_SUBPROTOCOL}\` next to the credential.`,
    );
  return { ...headers, authorization: `Bearer ${tokens[0]!.slice(BEARER.length)}` };
}

function parseProtocols({ 'sec-websocket-protocol': offered }: Peer['headers']): string[] {
  return typeof offered === 'string' ? offered.split(',').map((name) => name.trim()) : [];
}
