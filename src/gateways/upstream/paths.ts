import type { ProviderBase } from './settings.ts';

/** A path segment with an API version: `v1`, `v1beta`. */
const VERSION = /^v\d+[a-z0-9]*$/;

/**
 * Joins a provider's base path and a client's path and query. If the base path has a version, it replaces the version
 * at the start of the client's path: `/v1/chat/completions` at `https://host/openai/v1` becomes
 * `/openai/v1/chat/completions`. Otherwise the base path becomes a prefix.
 */
export function joinPaths(base: ProviderBase, path: string): string {
  const own = base.path.split('/').some((part) => VERSION.test(part));
  const [, first = '', rest = ''] = /^\/([^/?]*)(.*)$/s.exec(path) ?? [];
  return own && VERSION.test(first) ? `${base.path}${rest}` : `${base.path}${path}`;
}

/** Replaces the model in a path such as Gemini's `/v1beta/models/NAME:generateContent`. */
export function replaceModelInPath(path: string, model: string): string {
  return path.replace(
    /^([^?]*\/models\/)[^/?:]+/,
    (_, before: string) => `${before}${encodeURIComponent(model)}`,
  );
}

/** Removes an API key from the query, where Gemini's clients may put it. */
export function removeKeyFromPath(path: string): string {
  const at = path.indexOf('?');
  if (at === -1) return path;
  const kept = path
    .slice(at + 1)
    .split('&')
    .filter((part) => !isKey(part));
  return kept.length === 0 ? path.slice(0, at) : `${path.slice(0, at)}?${kept.join('&')}`;
}

function isKey(part: string): boolean {
  const [name = ''] = part.split('=', 1);
  try {
    return decodeURIComponent(name).toLowerCase() === 'key';
  } catch {
    return false;
  }
}
