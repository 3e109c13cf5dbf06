import type { IncomingHttpHeaders } from 'node:http';

/** The user of the client, for the audit log. It changes no right. */
export const USER_HEADER = 'x-service-user';
/** The program version of a hook. A build of a checkout has a `+` suffix. */
export const VERSION_HEADER = 'x-service-version';
/** The configuration file of a hook, with links resolved; absent for none. */
export const CONFIG_HEADER = 'x-service-config';

/** Returns the header of a signed token; none without a token. */
export function buildTokenHeader(token: string | null): Record<string, string> {
  return token === null ? {} : { authorization: `Bearer ${encodeURIComponent(token)}` };
}

/** Returns the credential that a request presents; `null` for none, and empty for one of another scheme. */
export function readTokenHeader({ authorization }: IncomingHttpHeaders): string | null {
  return authorization === undefined ? null : (/^Bearer (\S+)$/.exec(authorization)?.[1] ?? '');
}

/** Builds the headers of a local request. Values are percent-encoded, because paths may have any character. */
export function buildHeaders(values: Readonly<Record<string, string | null>>): Record<string, string> {
  const present = Object.entries(values).filter((each): each is [string, string] => each[1] !== null);
  return Object.fromEntries(present.map(([name, value]) => [name, encodeURIComponent(value)]));
}

/** Returns the value of a header; `null` if it is absent or not percent-encoded. */
export function readHeader(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  try {
    return typeof value === 'string' ? decodeURIComponent(value) : null;
  } catch {
    return null;
  }
}

/** Returns the user name that the client reports; `unknown` if it is not a valid one. */
export function readUser(headers: IncomingHttpHeaders): string {
  const user = readHeader(headers, USER_HEADER);
  return user !== null && /^[A-Za-z0-9._-]{1,64}$/.test(user) ? user : 'unknown';
}
