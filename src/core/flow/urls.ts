import { decodePercentEncoding } from '../text/percent.ts';

/** The URL parts that a sink checks one by one. */
export interface UrlParts {
  /** With the port, as written. */
  readonly host: string;
  /** As written, with the first slash; empty if there is none. */
  readonly path: string;
  /** The query as written, without `?`; empty if there is none. */
  readonly query: string;
  /** Names and values in the query, decoded. */
  readonly values: readonly string[];
  /** Path parts between slashes, decoded. */
  readonly segments: readonly string[];
  /** True if there is a user, a fragment, a scheme other than the web's, or a character that programs read differently. */
  readonly has_rest: boolean;
}

const URL = /^(?:([a-z][a-z0-9+.-]{0,15}):\/\/)?([^\s/?#@\\]+)(\/[^?#\s\\]*)?(?:\?([^#\s\\]*))?(#\S*)?$/i;
const HOST =
  /^(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.){0,20}[a-z0-9_-]{1,63}(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i;
const URL_UNITS_MAX = 4_096;

/** Cuts a URL into its parts, with or without a scheme; returns `null` if it is none. */
export function parseUrlParts(text: string): UrlParts | null {
  if (text.length > URL_UNITS_MAX) return null;
  const found = URL.exec(text);
  if (found === null) return null;
  const [, scheme, host, path = '', query = '', fragment = ''] = found;
  if (!HOST.test(host!) || (scheme === undefined && !host!.includes('.'))) return null;
  const values = query.split('&').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 0 ? [decodeQuery(pair)] : [decodeQuery(pair.slice(0, at)), decodeQuery(pair.slice(at + 1))];
  });
  return {
    host: host!,
    path,
    query,
    values: values.filter((value) => value !== ''),
    segments: path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodePercentEncoding),
    has_rest: fragment.length > 1 || (scheme !== undefined && !/^(?:http|ws)s?$/i.test(scheme)),
  };
}

function decodeQuery(text: string): string {
  return decodePercentEncoding(text.replaceAll('+', ' '));
}
