import { resolvePointer } from '../../core/json/pointer.ts';
import type { Json } from '../../core/types/index.ts';

/** The judged parts of a path and query, percent-decoded. */
interface UrlParts {
  readonly path: string[];
  readonly query: [name: string, value: string][];
}

/** Splits a URL into its judged parts. */
export function splitUrl(url: URL): UrlParts & Record<string, Json> {
  return {
    path: splitPath(url).map((segment) => decodePart(segment)),
    query: splitQuery(url).map(([name, value]) => [decodeQueryPart(name), decodeQueryPart(value)]),
  };
}

/**
 * Returns the URL with its changed parts; all others stay as written.
 * @param changed the judged parts, in the same order
 */
export function rebuildUrl(url: URL, changed: Readonly<Record<string, Json>>): URL {
  const before = splitUrl(url);
  const read = (...steps: readonly [string, ...number[]]) => {
    const part = resolvePointer(changed, `#/${steps.join('/')}`);
    return typeof part === 'string' ? part : undefined;
  };
  const next = new URL(url);
  const segments = splitPath(url).map((segment, at) =>
    encodeIfChanged(segment, before.path[at], read('path', at)),
  );
  next.pathname = `/${segments.join('/')}`;
  next.search = splitQuery(url)
    .map((pair, at) =>
      pair
        .map((part, side) => encodeIfChanged(part, before.query[at]?.[side], read('query', at, side)))
        .join('='),
    )
    .join('&');
  return next;
}

function encodeIfChanged(part: string, before: string | undefined, after: string | undefined): string {
  return before === after ? part : encodeURIComponent(after ?? '');
}

function splitPath({ pathname }: URL): string[] {
  return pathname.split('/').slice(1);
}

/** Returns the undecoded names and values. Without `=` the value is empty. */
function splitQuery({ search }: URL): [string, string][] {
  if (search.length < 2) return [];
  return search
    .slice(1)
    .split('&')
    .map((part) => {
      const equals = part.indexOf('=');
      return equals === -1 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
    });
}

function decodeQueryPart(written: string): string {
  return decodePart(written.replaceAll('+', ' '));
}

function decodePart(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}
