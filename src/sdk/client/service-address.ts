import { readVariable } from '../environment.ts';
import { CustomshouseError } from '../errors.ts';
import type { FetchFunction, ServiceAddress } from './http-request.ts';

/** The address of a service, and how to call it. */
export interface AddressOptions {
  /** Default: `SERVICE_URL`, else `http://127.0.0.1:8000`. */
  readonly url?: string;
  /** A credential, where the service asks for one. Default: `SERVICE_KEY`. */
  readonly key?: string;
  /** Time for one answer in milliseconds. Default 10,000. */
  readonly timeout_ms?: number;
  /** Default: the `fetch` of the platform. */
  readonly fetch?: FetchFunction;
}

const TIMEOUT_MS = 10_000;

/** Reads the address of a service. Throws if an option cannot be used. */
export function readServiceAddress(options: AddressOptions): ServiceAddress {
  const url = (options.url ?? readVariable('SERVICE_URL') ?? 'http://127.0.0.1:8000').replace(/\/+$/, '');
  if (!/^https?:\/\/\S+$/.test(url))
    throw new CustomshouseError('`url` is not an address of a service. Use one as `http://127.0.0.1:8000`.');
  const { timeout_ms = TIMEOUT_MS } = options;
  if (!Number.isFinite(timeout_ms) || timeout_ms < 1)
    throw new CustomshouseError('`timeout_ms` must be a number of milliseconds, 1 or more.');
  const own = globalThis.fetch as FetchFunction | undefined;
  const send = options.fetch ?? own;
  if (send === undefined) throw new CustomshouseError('This platform has no `fetch`. Pass one in `fetch`.');
  return {
    url,
    key: options.key ?? readVariable('SERVICE_KEY'),
    timeout_ms,
    fetch: (...call) => send(...call),
  };
}
