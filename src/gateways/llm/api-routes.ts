import type { WireName } from '../../core/wire/wire-format.ts';
import { PUBLIC_ORIGINS } from '../upstream/settings.ts';

/** A route of a provider's API that a single forwarded request asks for. */
export type ApiRoute =
  | {
      readonly kind: 'served';
      readonly wire: WireName;
      /** The model and whether it streams, if the path says so (Gemini). */
      readonly in_path: { readonly model: string; readonly is_stream: boolean } | null;
    }
  /** The route costs money or returns tool calls, and no format here reads it. */
  | { readonly kind: 'unserved' };

/**
 * Returns the route of a provider's API that a request asks for, or `null` for any other request. Servers accept
 * variants of a path, so doubled slashes, escapes, case and a trailing slash are ignored.
 */
export function findApiRoute(url: URL, method: string): ApiRoute | null {
  if (method === 'GET' || method === 'HEAD') return null;
  const path = normalizePath(url.pathname);
  const gemini = GEMINI.exec(path);
  if (gemini !== null) {
    const [, model = '', verb = ''] = gemini;
    const is_stream = verb.toLowerCase().startsWith('stream');
    return { kind: 'served', wire: 'gemini.generate', in_path: { model, is_stream } };
  }
  const wire = WIRES.find(([pattern]) => pattern.test(path))?.[1];
  if (wire !== undefined) return { kind: 'served', wire, in_path: null };
  const is_unserved = PUBLIC_ORIGINS.has(url.origin) ? method !== 'DELETE' : UNSERVED.test(path);
  return is_unserved ? { kind: 'unserved' } : null;
}

const GEMINI = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/i;

/** More specific patterns first. */
const WIRES: readonly (readonly [RegExp, WireName])[] = [
  [/\/chat\/completions$/i, 'openai.chat'],
  [/\/completions$/i, 'openai.completions'],
  [/\/responses$/i, 'openai.responses'],
  [/\/embeddings$/i, 'openai.embeddings'],
  // Many other services have `/messages` too, so without a version prefix it must be the whole path.
  [/(?:^|\/v\d[^/]*)\/messages$/i, 'anthropic.messages'],
  [/(?:^|\/v\d[^/]*)\/messages\/count_tokens$/i, 'anthropic.count_tokens'],
];

/**
 * Routes of OpenAI, Anthropic and Gemini that run a model but are not served, also on servers with compatible APIs.
 */
const UNSERVED =
  /(?:^|\/v\d[^/]*)\/(?:batches|messages\/batches|responses\/compact|realtime(?:\/.*)?|threads\/runs|threads\/[^/]+\/runs|images\/[a-z]+|audio\/[a-z]+|videos|fine_tuning\/jobs|rerank)$|:(?:batchGenerateContent|predict|predictLongRunning|rawPredict|streamRawPredict|generateAnswer|generateMessage|generateText|bidiGenerateContent|countTokens|(?:async)?batchEmbedContents?|embedContent)$/i;

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
