import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { Refusal } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { AuthenticationFailure, Authenticator } from '../../runtime/access/index.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { refuseEncoded } from './body.ts';
import type { BodyMemoryLimit } from './body-memory.ts';
import type { ConcurrencyLimit } from './concurrency.ts';
import { type ErrorLog, prepareError, readRefusal } from './errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, identified before the body is read. */
    caller: Caller | null;
  }
}

export interface RoutePorts {
  readonly runtime: Pick<Runtime, 'telemetry'>;
  readonly authenticate: Authenticator;
  readonly log: ErrorLog;
  readonly limitBody: BodyMemoryLimit;
  readonly limit: ConcurrencyLimit;
}

/** A route as its transport sees it. */
export interface GuardedRoute {
  readonly method: string;
  readonly url: string;
  readonly config?: FastifyContextConfig;
  /** `optional`: a missing or wrong credential is no error. `none`: no credential is read. */
  readonly credential: 'required' | 'optional' | 'none';
  /** Accepts session cookies; default false. */
  readonly takes_cookies?: boolean;
  /** Selects the headers that can hold the credential; default all. */
  readonly selectHeaders?: (headers: IncomingHttpHeaders) => IncomingHttpHeaders;
  /** Refuses a request by its URL and headers, before the credential is read. */
  readonly refuse?: (request: FastifyRequest) => Refusal | null;
  /** Refuses an authenticated caller. */
  readonly refuseCaller?: (caller: Caller) => Refusal | null;
  /** Returns the refusal for an expected error; `null` for a fault. */
  readonly readError?: (error: unknown) => Refusal | null;
  /** Begins the line about a fault in the service log: `a request`. */
  readonly subject: string;
  /** Further fields for that line. */
  readonly fault_fields?: object;
  /** Writes an error in the transport's form; `null` is a fault. */
  readonly writeError: (
    refusal: Refusal | null,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => FastifyReply | Promise<FastifyReply>;
  /** Answers a request. `run` keeps work within the limit on parallel requests and the caller's trace. */
  readonly handle: (request: FastifyRequest, reply: FastifyReply, run: RunLimited) => Promise<unknown>;
}

export type RunLimited = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Builds a route that authenticates before it reads the body, limits bodies and requests, and reports every error. */
export function buildGuardedRoute(route: GuardedRoute, ports: RoutePorts): RouteOptions {
  const { method, url, config = {}, handle, readError = readRefusal } = route;
  const { limit, limitBody, log, runtime } = ports;
  return {
    method,
    url,
    config,
    onRequest: (request, _reply, done) => {
      const outcome = admitRequest(request, route, ports);
      if (outcome instanceof Promise) outcome.then((refusal) => done(refusal ?? undefined), done);
      else done(outcome ?? undefined);
    },
    preParsing: (request, reply, payload, done) => {
      const admitted = limit.refusal() ?? limitBody(payload as Readable, request.raw.headers, reply.raw);
      if (admitted instanceof Refusal) done(admitted);
      else done(null, admitted);
    },
    errorHandler: async (error, request, reply) => {
      const refusal = readError(error);
      const { subject, fault_fields } = route;
      await prepareError(refusal ?? error, request, reply, log, subject, fault_fields);
      return route.writeError(refusal, request, reply);
    },
    handler: (request, reply) => {
      const { telemetry } = runtime;
      return handle(request, reply, (work) =>
        limit.run(telemetry === null ? work : () => telemetry.within(request.headers, work)),
      );
    },
  };
}

/** Authenticates the caller and refuses whatever can be refused without the body. */
function admitRequest(
  request: FastifyRequest,
  { credential, takes_cookies = false, selectHeaders, refuse, refuseCaller }: GuardedRoute,
  { authenticate }: RoutePorts,
): Refusal | null | Promise<Refusal | null> {
  const refusal = refuse?.(request) ?? refuseEncoded(request);
  if (refusal !== null || credential === 'none') return refusal;
  const isOptional = credential === 'optional';
  const settle = (outcome: Caller | AuthenticationFailure): Refusal | null => {
    if ('denied' in outcome) return isOptional ? null : new Refusal(outcome.denied, outcome.reason);
    const refused = refuseCaller?.(outcome) ?? null;
    if (refused === null) request.caller = outcome;
    return refused;
  };
  const { headers: all, method = '', socket } = request.raw;
  const headers = selectHeaders?.(all) ?? all;
  const outcome = authenticate({
    address: socket.remoteAddress,
    headers,
    ...(takes_cookies && { method }),
  });
  if (!(outcome instanceof Promise)) return settle(outcome);
  // A route with an optional credential answers while the store of the sessions does not.
  return outcome.then(settle, (fault: unknown) => {
    if (!isOptional) throw fault;
    return null;
  });
}
