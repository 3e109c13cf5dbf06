import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { findUnavailableRefusal } from '../../operations/call.ts';
import { Refusal } from '../../operations/operation.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import type { Authenticator } from '../../runtime/access/index.ts';
import { containsServiceCredential } from '../../runtime/access/tokens.ts';
import { refuseEncoded } from '../web/body.ts';
import type { BodyMemoryLimit } from '../web/body-memory.ts';
import type { ConcurrencyLimit } from '../web/concurrency.ts';
import { prepareRefusal, readRefusal } from '../web/errors.ts';
import { selectServiceCredential } from './credentials.ts';
import type { ModelRequestPorts } from './handle-request.ts';
import { type LlmRoute, llmRoutes } from './routes.ts';

export interface LlmPorts extends ModelRequestPorts {
  readonly authenticate: Authenticator;
  readonly limitBody: BodyMemoryLimit;
  readonly limit: ConcurrencyLimit;
}

const JSON_TYPES = /^application\/(?:[\w.-]+\+)?json(?:;|$)/i;

/** Adds the routes of the providers' APIs. Their handler is loaded with the first call. */
export function addLlmRoutes(app: FastifyInstance, ports: LlmPorts): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // The body is forwarded byte for byte, except for what a policy changes.
    scope.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (_request, bytes, done) =>
      done(null, bytes),
    );
    const by_url = Map.groupBy(llmRoutes, ({ http, url }) => url ?? http.path);
    for (const [url, routes] of by_url) scope.route(getRoute(url, routes, ports));
    // Anthropic's clients use this path as a health check.
    scope.route({ method: 'GET', url: '/api/hello', handler: (_request, reply) => reply.code(200).send() });
  });
}

/** Loads the modules for which the first call would otherwise wait. */
export async function warmLlm(llm: LlmPorts['llm']): Promise<void> {
  await Promise.all([loaded(), llm()]);
}

const loaded = createLazyValue(() => import('./handle-request.ts')).open;

function getRoute(url: string, routes: readonly LlmRoute[], ports: LlmPorts): RouteOptions {
  const { runtime, log } = ports;
  return {
    method: routes[0]!.http.method,
    url,
    onRequest: (request, _reply, done) => {
      // A provider's time limit is a setting of the provider; the response writer detects a client that reads nothing.
      request.raw.socket.setTimeout(0);
      admitRequest(request, ports).then((refusal) => done(refusal ?? undefined), done);
    },
    preParsing: (request, reply, payload, done) => {
      const admitted =
        ports.limit.refusal() ?? ports.limitBody(payload as Readable, request.raw.headers, reply.raw);
      if (admitted instanceof Refusal) done(admitted);
      else done(null, admitted);
    },
    errorHandler: async (error, request, reply) => {
      const refusal = findUnavailableRefusal(error) ?? readRefusal(error);
      if (refusal !== null) await prepareRefusal(refusal, request, reply);
      return (await loaded()).answerLlmError(routes, refusal, error, request, reply, log);
    },
    handler: async (request, reply) => {
      const { handleModelRequest } = await loaded();
      const { telemetry } = runtime;
      const taking = () => handleModelRequest(routes, request, reply, ports);
      await ports.limit.run(() =>
        telemetry === null ? taking() : telemetry.within(request.headers, taking),
      );
      return reply;
    },
  };
}

/** Authenticates the caller and refuses whatever can be refused without the body. */
async function admitRequest(request: FastifyRequest, { authenticate }: LlmPorts): Promise<Refusal | null> {
  const refusal = refuseEncoded(request);
  if (refusal !== null) return refusal;
  if (containsServiceCredential(decodeUrl(request.raw.url ?? '')))
    return new Refusal('invalid_request', CREDENTIAL_IN_URL);
  const headers = selectServiceCredential(request.raw.headers);
  const outcome = await authenticate({ address: request.raw.socket.remoteAddress, headers });
  if ('denied' in outcome) return new Refusal(outcome.denied, outcome.reason);
  if (!outcome.permissions.includes('check'))
    return new Refusal('forbidden', 'The credential does not have the permission `check`.');
  request.caller = outcome;
  return null;
}

const CREDENTIAL_IN_URL =
  'The URL holds a credential of this service, and would take it to the provider. Send it as `x-service-key` or `x-goog-api-key`.';

function decodeUrl(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
