import type { ProviderBase } from './settings.ts';

/** A part of a path that names a version of an API: `v1`, `v1beta`. */
const VERSION = /^v\d+[a-z0-9]*$/;

/**
 * The path and query to ask a provider for. Where the path of its base URL has a version, that path takes the place
 * of the version that the client's path begins with: `/v1/chat/completions` at `https://host/openai/v1` is
 * `/openai/v1/chat/completions`. Else it is put in front.
 */
export function joinPaths(base: ProviderBase, path: string): string {
  const own = base.path.split('/').some((part) => VERSION.test(part));
  const [, first = '', rest = ''] = /^\/([^/?]*)(.*)$/s.exec(path) ?? [];
  return own && VERSION.test(first) ? `${base.path}${rest}` : `${base.path}${path}`;
}

/** A path that names its model, as Gemini's `/v1beta/models/NAME:generateContent`, with another one. */
export function replaceModelInPath(path: string, model: string): string {
  return path.replace(
    /^([^?]*\/models\/)[^/?:]+/,
    (_, before: string) => `${before}${encodeURIComponent(model)}`,
  );
}

/** Takes a key out of the query, where Gemini's clients may put it. */
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
