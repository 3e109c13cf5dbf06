import type { Json } from '../../core/types/index.ts';

/** The parts of a path and a query that are judged, in the characters that they stand for. */
export interface UrlParts {
  readonly path: string[];
  readonly query: [name: string, value: string][];
}

/** Takes an address apart. */
export function urlParts(url: URL): UrlParts & Record<string, Json> {
  return {
    path: segmentsOf(url).map((segment) => decoded(segment)),
    query: pairsOf(url).map(([name, value]) => [spaced(name), spaced(value)]),
  };
}

/**
 * The same address with the parts that were changed; all others stand as they were written.
 * @param changed what became of the parts, in their order
 */
export function changedUrl(url: URL, changed: Readonly<Record<string, Json>>): URL {
  const before = urlParts(url);
  const { path, query } = changed as unknown as UrlParts;
  const next = new URL(url);
  const segments = segmentsOf(url).map((segment, at) =>
    path[at] === before.path[at] ? segment : encodeURIComponent(path[at] ?? ''),
  );
  next.pathname = `/${segments.join('/')}`;
  next.search = pairsOf(url)
    .map((pair, at) =>
      pair.map((part, side) => kept(part, before.query[at]?.[side], query[at]?.[side])).join('='),
    )
    .join('&');
  return next;
}

function kept(part: string, before: string | undefined, after: string | undefined): string {
  return before === after ? part : encodeURIComponent(after ?? '');
}

function segmentsOf({ pathname }: URL): string[] {
  return pathname.split('/').slice(1);
}

/** Name and value as they are written; where there is no `=`, the value is empty. */
function pairsOf({ search }: URL): [string, string][] {
  if (search.length < 2) return [];
  return search
    .slice(1)
    .split('&')
    .map((part) => {
      const equals = part.indexOf('=');
      return equals === -1 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
    });
}

function spaced(written: string): string {
  return decoded(written.replaceAll('+', ' '));
}

function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}
