import { Buffer } from 'node:buffer';
import type { UpstreamConnections } from './connections.ts';
import { decodeAnswer } from './decode.ts';
import {
  type ExchangeTimeouts,
  exchangeHttp,
  type UpstreamHttpAnswer,
  type UpstreamHttpRequest,
} from './exchange.ts';
import { UpstreamFailure } from './failure.ts';
import { buildRequestHeaders } from './headers.ts';
import { joinPaths, removeKeyFromPath, replaceModelInPath } from './paths.ts';
import type { UpstreamPorts } from './ports.ts';
import type { UpstreamTarget } from './routing-table.ts';
import type { UpstreamRequest } from './types.ts';

/** The dependencies of an attempt. */
export interface AttemptParts {
  readonly connections: UpstreamConnections;
  readonly ports: Pick<UpstreamPorts, 'alarm'>;
}

/**
 * Makes one attempt at one target. Rejects with an `UpstreamFailure`. An error status is not a failure, except a
 * redirect.
 */
export async function attemptCall(
  request: UpstreamRequest,
  target: UpstreamTarget,
  patience: ExchangeTimeouts,
  { connections, ports }: AttemptParts,
): Promise<UpstreamHttpAnswer> {
  const dispatcher = await connections.to(target.provider.base.origin);
  const outgoing = buildHttpRequest(request, target);
  const incoming = await exchangeHttp(dispatcher, outgoing, patience, request.signal, ports.alarm);
  return decodeAnswer(rejectRedirect(incoming));
}

function buildHttpRequest(
  request: UpstreamRequest,
  { provider, key, model }: UpstreamTarget,
): UpstreamHttpRequest {
  const { wire, method, headers, bodyFor } = request;
  const replaced = model !== null && model !== request.model;
  const named = replaced && NAMED_IN_PATH.has(wire) ? replaceModelInPath(request.path, model) : request.path;
  const dropsKeys = key !== null || provider.client_key === 'drop';
  return {
    method,
    path: joinPaths(provider.base, dropsKeys ? removeKeyFromPath(named) : named),
    headers: buildRequestHeaders(headers, provider, key),
    body: bodyFor(model),
  };
}

/** The APIs that name the model in the path instead of the body. */
const NAMED_IN_PATH: ReadonlySet<UpstreamRequest['wire']> = new Set([
  'gemini.generate',
  'openai.models',
  'anthropic.models',
]);

/** Throws for a redirect. Its destination is not configured, and the client must not bypass this service. */
export function rejectRedirect(incoming: UpstreamHttpAnswer): UpstreamHttpAnswer {
  const { status } = incoming;
  if (status < 300 || status > 399 || status === 304) return incoming;
  const message = `The provider answers with a redirection (${status}), which is not followed: write the address where it leads as its base URL.`;
  const failure = new UpstreamFailure('upstream_broken', message);
  incoming.cut(failure);
  throw failure;
}

/** The limits of an error response that is kept while other targets are tried, in bytes and milliseconds. */
const KEPT_BYTES_MAX = 65_536;
const KEPT_MS_MAX = 2_000;

/**
 * Reads the body into memory, so that its connection is free for another attempt. A large or slow body is cut, and
 * reading it fails.
 */
export async function bufferAnswer(
  incoming: UpstreamHttpAnswer,
  alarm: UpstreamPorts['alarm'],
): Promise<UpstreamHttpAnswer> {
  const quiet = alarm(KEPT_MS_MAX, () => incoming.cut(buildUnreadFailure()));
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let failure: UpstreamFailure | null = null;
  try {
    for await (const chunk of incoming.body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > KEPT_BYTES_MAX) throw buildUnreadFailure();
    }
  } catch (fault) {
    failure = fault instanceof UpstreamFailure ? fault : buildUnreadFailure();
  } finally {
    quiet();
  }
  return { ...incoming, body: streamBody(Buffer.concat(chunks), failure), cut: () => {} };
}

async function* streamBody(bytes: Uint8Array, failure: UpstreamFailure | null): AsyncGenerator<Uint8Array> {
  if (failure !== null) throw failure;
  if (bytes.length > 0) yield bytes;
}

function buildUnreadFailure(): UpstreamFailure {
  return new UpstreamFailure(
    'upstream_broken',
    'The error response of the provider is too long or too slow.',
  );
}
