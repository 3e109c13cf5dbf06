import type { operationCatalogue } from '../../../src/server/operations.ts';
import { takeEarlyResponse } from './early-requests.ts';
import { operationRoutes } from './routes.ts';

type Catalogue = typeof operationCatalogue;

/** The name of an operation in the catalogue of the service: `observeAgents`. */
export type OperationName = keyof Catalogue & keyof typeof operationRoutes;
export type OperationInput<Name extends OperationName> = Parameters<Catalogue[Name]['run']>[0];
export type OperationOutput<Name extends OperationName> = Awaited<ReturnType<Catalogue[Name]['run']>>;

/** An error of the service, with its stable code and the ID that its log shows. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly request_id: string | null;
  readonly details: readonly { path: string; message: string }[];
  /** The call is allowed once a second factor is proved again. */
  readonly second_factor_required: boolean;
  constructor(status: number, body: ErrorBody, requestId: string | null) {
    super(body.error ?? `The service answered ${status}.`);
    this.name = 'ApiError';
    this.status = status;
    this.code = body.code ?? `http_${status}`;
    this.request_id = body.request_id ?? requestId;
    this.details = body.details ?? [];
    this.second_factor_required = body.second_factor_required === true;
  }
}

interface ErrorBody {
  readonly error?: string;
  readonly code?: string;
  readonly request_id?: string;
  readonly details?: readonly { path: string; message: string }[];
  readonly second_factor_required?: boolean;
}

/** The token of the session against forged requests. It is kept in memory only. */
let csrfToken: string | null = null;

export function setCsrfToken(token: string | null): void {
  csrfToken = token;
}

const CSRF_HEADER = 'x-csrf-token';
const unauthenticatedListeners = new Set<() => void>();

/** Calls a listener when an answer says that the session has ended. Returns a function that removes it. */
export function onUnauthenticated(listener: () => void): () => void {
  unauthenticatedListeners.add(listener);
  return () => unauthenticatedListeners.delete(listener);
}

/** Calls one operation of the service. Rejects with `ApiError`. */
export async function callOperation<Name extends OperationName>(
  name: Name,
  input: OperationInput<Name>,
  signal?: AbortSignal,
): Promise<OperationOutput<Name>> {
  const [method, pattern] = operationRoutes[name];
  const rest: Record<string, unknown> = { ...(input as Record<string, unknown>) };
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_all, member: string) => {
    const value = String(rest[member]);
    delete rest[member];
    return encodeURIComponent(value);
  });
  if (method === 'GET') return await requestAnswer(`${path}${buildQueryString(rest)}`, { method, signal });
  return await requestAnswer(path, { method, signal, body: rest });
}

interface RequestOptions {
  readonly method: string;
  readonly signal?: AbortSignal | undefined;
  readonly body?: unknown;
}

async function requestAnswer<Answer>(path: string, options: RequestOptions): Promise<Answer> {
  const early = options.method === 'GET' ? await takeEarlyResponse(path) : null;
  return readAnswer<Answer>(early ?? (await fetchAnswer(path, options)));
}

function fetchAnswer(path: string, { method, signal, body }: RequestOptions): Promise<Response> {
  return fetch(path, {
    method,
    credentials: 'same-origin',
    redirect: 'error',
    signal: signal ?? null,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(csrfToken === null || method === 'GET' ? {} : { [CSRF_HEADER]: csrfToken }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { error: 'The service cannot be reached.', code: 'unreachable' }, null);
  });
}

async function readAnswer<Answer>(response: Response): Promise<Answer> {
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer as Answer;
  const body = typeof answer === 'object' && answer !== null ? (answer as ErrorBody) : {};
  const error = new ApiError(response.status, body, response.headers.get('x-request-id'));
  if (error.status === 401) for (const listener of unauthenticatedListeners) listener();
  throw error;
}

function buildQueryString(members: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [member, value] of Object.entries(members)) {
    if (value !== undefined && value !== null && value !== '') query.set(member, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
