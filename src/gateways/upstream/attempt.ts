import { Buffer } from 'node:buffer';
import type { Connections } from './connections.ts';
import { decoded } from './decode.ts';
import { exchange, type Incoming, type Outgoing, type Patience } from './exchange.ts';
import { UpstreamFailure } from './failure.ts';
import { requestHeaders } from './headers.ts';
import { joinedPath, withModel, withoutKey } from './paths.ts';
import type { Target } from './plan.ts';
import type { UpstreamPorts } from './ports.ts';
import type { UpstreamRequest } from './types.ts';

export interface AttemptParts {
  readonly connections: Connections;
  readonly ports: Pick<UpstreamPorts, 'alarm'>;
}

/** Makes one try at one target. Rejects with an `UpstreamFailure`; a status is no failure, but that of a redirection. */
export async function attempt(
  request: UpstreamRequest,
  target: Target,
  patience: Patience,
  { connections, ports }: AttemptParts,
): Promise<Incoming> {
  const dispatcher = await connections.to(target.provider.base.origin);
  const outgoing = outgoingOf(request, target);
  const incoming = await exchange(dispatcher, outgoing, patience, request.signal, ports.alarm);
  return decoded(notRedirected(incoming));
}

function outgoingOf(request: UpstreamRequest, { provider, key, model }: Target): Outgoing {
  const { wire, method, headers, bodyFor } = request;
  const replaced = model !== null && model !== request.model;
  const named = replaced && NAMED_IN_PATH.has(wire) ? withModel(request.path, model) : request.path;
  const drops_keys = key !== null || provider.client_key === 'drop';
  return {
    method,
    path: joinedPath(provider.base, drops_keys ? withoutKey(named) : named),
    headers: requestHeaders(headers, provider, key),
    body: bodyFor(model),
  };
}

/** APIs whose path names the model, and not their body. */
const NAMED_IN_PATH: ReadonlySet<UpstreamRequest['wire']> = new Set([
  'gemini.generate',
  'openai.models',
  'anthropic.models',
]);

/** Where it leads is no address that was configured, and the client must not go there past this service. */
export function notRedirected(incoming: Incoming): Incoming {
  const { status } = incoming;
  if (status < 300 || status > 399 || status === 304) return incoming;
  const message = `The provider answers with a redirection (${status}), which is not followed: write the address where it leads as its base URL.`;
  const failure = new UpstreamFailure('upstream_broken', message);
  incoming.cut(failure);
  throw failure;
}

/** Bytes of an answer that are kept in case no other try comes to more. */
const KEPT_BYTES_MAX = 65_536;
const KEPT_MS_MAX = 2_000;

/**
 * The same answer with its body in memory, so that its connection is free for another try. A body that is large or
 * slow is cut, and reading it fails.
 */
export async function kept(incoming: Incoming, alarm: UpstreamPorts['alarm']): Promise<Incoming> {
  const quiet = alarm(KEPT_MS_MAX, () => incoming.cut(unread()));
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let failure: UpstreamFailure | null = null;
  try {
    for await (const chunk of incoming.body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > KEPT_BYTES_MAX) throw unread();
    }
  } catch (fault) {
    failure = fault instanceof UpstreamFailure ? fault : unread();
  } finally {
    quiet();
  }
  return { ...incoming, body: bodyOf(Buffer.concat(chunks), failure), cut: () => {} };
}

async function* bodyOf(bytes: Uint8Array, failure: UpstreamFailure | null): AsyncGenerator<Uint8Array> {
  if (failure !== null) throw failure;
  if (bytes.length > 0) yield bytes;
}

function unread(): UpstreamFailure {
  return new UpstreamFailure(
    'upstream_broken',
    'The error response of the provider is too long or too slow.',
  );
}
