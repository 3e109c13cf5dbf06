import type { IncomingHttpHeaders } from 'node:http';

/** Headers in which clients of providers send keys. */
const PROVIDERS_OWN = ['x-api-key', 'x-goog-api-key', 'api-key'] as const;

/**
 * Returns the headers that identify the caller to this service. A credential of this service is in `x-service-key`, or
 * starts with `svc_`. Every other credential belongs to the provider and is ignored here.
 */
export function selectServiceCredential(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { authorization, ...rest } = headers;
  if (headers['x-service-key'] !== undefined) return rest;
  if (authorization !== undefined && /^bearer +svc_/i.test(authorization)) return headers;
  const ours = PROVIDERS_OWN.map((name) => headers[name]).find(
    (value) => typeof value === 'string' && value.startsWith('svc_'),
  );
  return ours === undefined ? rest : { ...rest, 'x-service-key': ours };
}
