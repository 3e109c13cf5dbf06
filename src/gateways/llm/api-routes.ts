import { apiFamilies } from '../../core/wire/families/index.ts';
import { wireFormats } from '../../core/wire/formats/index.ts';
import type { WireName } from '../../core/wire/wire-format.ts';
import { PUBLIC_ORIGINS } from '../upstream/settings.ts';

interface ServedRoute {
  readonly kind: 'served';
  readonly wire: WireName;
  /** The model and whether it streams, if the path says so (Gemini). */
  readonly in_path: { readonly model: string; readonly is_stream: boolean } | null;
}

/** A route of a provider's API that a single forwarded request asks for. */
export type ApiRoute =
  | ServedRoute
  /** The route costs money or returns tool calls, and no format here reads its answer. */
  | { readonly kind: 'unserved' };

/**
 * Returns the route of a provider's API that a request asks for, or `null` for any other request. Servers accept
 * variants of a path, so doubled slashes, escapes, case and a trailing slash are ignored.
 */
export function findApiRoute(url: URL, method: string): ApiRoute | null {
  const path = normalizePath(url.pathname);
  if (method === 'GET' || method === 'HEAD') return STORED_ANSWER.test(path) ? { kind: 'unserved' } : null;
  for (const { name, path_pattern } of wireFormats) {
    const found = path_pattern.exec(path);
    if (found !== null) return { kind: 'served', wire: name, in_path: readPath(found.groups) };
  }
  const isUnserved = PUBLIC_ORIGINS.has(url.origin)
    ? method !== 'DELETE'
    : apiFamilies.some(({ unserved_paths }) => unserved_paths.test(path));
  return isUnserved ? { kind: 'unserved' } : null;
}

/** Routes that return an answer that a provider stores, with tool calls that were not judged when it was made. */
const STORED_ANSWER =
  /(?:^|\/v\d[^/]*)\/(?:responses\/resp_[^/]+|chat\/completions\/[^/]+|threads\/thread_[^/]+\/(?:messages|runs)(?:\/.*)?|conversations\/conv_[^/]+\/items(?:\/.*)?|messages\/batches\/[^/]+\/results|files\/file[-_][^/]+\/content|batches\/[^/]+)$/i;

function readPath({ model, verb = '' }: RegExpExecArray['groups'] = {}): ServedRoute['in_path'] {
  return model === undefined ? null : { model, is_stream: verb.toLowerCase().startsWith('stream') };
}

function normalizePath(pathname: string): string {
  return decodePath(pathname)
    .replaceAll('\\', '/')
    .replace(/\/{2}/g, '/')
    .replace(/[/\s]+$/, '');
}

/** Decodes percent escapes up to three times, because escapes may be nested. */
function decodePath(pathname: string): string {
  let path = pathname;
  for (let round = 0; round < 3 && path.includes('%'); round += 1) {
    try {
      path = decodeURIComponent(path);
    } catch {
      return path;
    }
  }
  return path;
}
