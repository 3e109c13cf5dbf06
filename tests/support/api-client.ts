/** Calls the API of a test service, with each request on a connection of its own, so that all workers answer. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestService } from './service.ts';

export interface ApiReply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly body: any;
}

/** The caller: a credential, a user of this machine, or none. The default is the operator. */
export type ApiCaller = { readonly token: string } | { readonly user: string } | null;

export interface ApiRequest {
  readonly method?: string;
  readonly body?: object;
  readonly as?: ApiCaller;
}

export type ApiClient = (path: string, request?: ApiRequest) => Promise<ApiReply>;

/** Opens a client with the operator token of the service. */
export function openApiClient(service: Pick<TestService, 'url' | 'state_dir'>): ApiClient {
  const token = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  return async (path, { method, body, as = { token } } = {}) => {
    const answer = await fetch(`${service.url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        connection: 'close',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(as !== null && 'token' in as && { authorization: `Bearer ${as.token}` }),
        ...(as !== null && 'user' in as && { 'x-service-user': as.user }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
}

/** Returns the different decisions of all workers on one output. */
export async function listOutputDecisions(call: ApiClient, body: object): Promise<readonly string[]> {
  const one = async () => (await call('/v1/guard/output', { body, as: null })).body.decision as string;
  return [...new Set(await Promise.all(Array.from({ length: 8 }, one)))];
}
