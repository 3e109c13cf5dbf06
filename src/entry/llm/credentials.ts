import type { IncomingHttpHeaders } from 'node:http';

/** Headers in which clients of providers send keys. */
const PROVIDERS_OWN = ['x-api-key', 'x-goog-api-key', 'api-key'] as const;

/**
 * The headers by which it is told who calls this service. A credential of ours is `x-service-key`, or any other that
 * begins with `svc_`; every other one is the provider's, and says nothing here.
 */
export function ourHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { authorization, ...rest } = headers;
  if (headers['x-service-key'] !== undefined) return rest;
  if (authorization !== undefined && /^bearer +svc_/i.test(authorization)) return headers;
  const ours = PROVIDERS_OWN.map((name) => headers[name]).find(
    (value) => typeof value === 'string' && value.startsWith('svc_'),
  );
  return ours === undefined ? rest : { ...rest, 'x-service-key': ours };
}
