import type { FastifyInstance, RouteOptions } from 'fastify';
import { findUnavailableRefusal } from '../../operations/call.ts';
import { Refusal } from '../../operations/operation.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import { containsServiceCredential } from '../../runtime/access/tokens.ts';
import { readRefusal } from '../web/errors.ts';
import { buildGuardedRoute, type RoutePorts } from '../web/guarded-route.ts';
import { selectServiceCredential } from './credentials.ts';
import type { ModelRequestPorts } from './handle-request.ts';
import { type LlmRoute, llmRoutes } from './routes.ts';

export interface LlmPorts extends ModelRequestPorts, RoutePorts {
  readonly runtime: ModelRequestPorts['runtime'];
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
    const byUrl = Map.groupBy(llmRoutes, ({ http, url }) => url ?? http.path);
    for (const [url, routes] of byUrl) scope.route(getRoute(url, routes, ports));
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
  return buildGuardedRoute(
    {
      method: routes[0]!.http.method,
      url,
      credential: 'required',
      selectHeaders: selectServiceCredential,
      refuse: ({ raw }) => {
        // A provider's time limit is a setting of the provider; the response writer detects a client that reads nothing.
        raw.socket.setTimeout(0);
        return containsServiceCredential(decodeUrl(raw.url ?? ''))
          ? new Refusal('invalid_request', CREDENTIAL_IN_URL)
          : null;
      },
      refuseCaller: ({ permissions }) =>
        permissions.includes('check')
          ? null
          : new Refusal('forbidden', 'The credential does not have the permission `check`.'),
      readError: (error) => findUnavailableRefusal(error) ?? readRefusal(error),
      subject: 'a call of a model',
      writeError: async (refusal, request, reply) =>
        (await loaded()).writeLlmError(routes, refusal, request, reply),
      handle: async (request, reply, run) => {
        const { handleModelRequest } = await loaded();
        await run(() => handleModelRequest(routes, request, reply, ports));
        return reply;
      },
    },
    ports,
  );
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
