/**
 * Recorded exchanges with model providers, one per file. A file starts with lines about the exchange. The body of the
 * answer follows the first empty line, byte for byte except for its marks:
 *
 *     > POST /v1/chat/completions        the method and path that it answers; `*` stands for one part, `**` for any
 *     > stream: true                     whether the request asks for a stream; without it, either
 *     > with: encoding_format=base64     a member that the request's body must have, and its value
 *     = answers: anything                also answers requests that no test has planned
 *     = line ends: crlf                  the body's line ends, as Gemini sends them
 *     = pieces text ["Par", "is"]        the pieces of a text, unless a test sets others
 *     < 200                              the status
 *     < x-request-id: req_1              a header
 *
 * Marks: an event with `{{piece text}}` is sent once for each piece, and `{{all text}}` is all of them. Both are escaped
 * for a JSON string; `{{raw text}}` is not escaped. `{{n}}` is a counter. If the request does not ask for usage, an event
 * that starts with `{{if usage}}` is not sent, and the member `{{usage null}}` is absent.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface ProviderRecording {
  /** `openai/chat/plain.stream`: its path below the folder. */
  readonly name: string;
  readonly method: string;
  readonly path: RegExp;
  /** `null` if it does not matter. */
  readonly is_stream: boolean | null;
  readonly with: readonly { readonly member: string; readonly value: string | null }[];
  readonly answers_anything: boolean;
  readonly has_crlf: boolean;
  readonly pieces: Readonly<Record<string, readonly string[]>>;
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: string;
}

export const RECORDINGS_FOLDER = resolve(import.meta.dirname, '..', '..', 'gateway', 'recordings');
const SUFFIX = '.http';

/** Reads all recordings below a folder, by their names. */
export function readRecordings(folder = RECORDINGS_FOLDER): ReadonlyMap<string, ProviderRecording> {
  const files = globSync(`**/*${SUFFIX}`, { cwd: folder }).sort();
  return new Map(
    files.map((file) => {
      const name = file.slice(0, -SUFFIX.length).replaceAll('\\', '/');
      return [name, readRecording(name, readFileSync(join(folder, file), 'utf8'))];
    }),
  );
}

/** Parses the text of one file. Throws if it does not have the format above. */
export function readRecording(name: string, text: string): ProviderRecording {
  const end = text.indexOf('\n\n');
  const lines = text.slice(0, end).split('\n');
  const body = text.slice(end + 2);
  const told = (sign: string): string[] =>
    lines.filter((line) => line.startsWith(`${sign} `)).map((line) => line.slice(2).trim());
  const [first, ...conditions] = told('>');
  const [status, ...headers] = told('<');
  const [method, path] = (first ?? '').split(' ');
  if (
    end === -1 ||
    lines.some((line) => !/^[>=<] ./.test(line)) ||
    !method ||
    !path ||
    !/^\d+$/.test(status ?? '')
  )
    throw new Error(`the recording \`${name}\` does not begin as one does`);
  const toldOf = (list: readonly string[], key: string): string | null =>
    list.find((line) => line.startsWith(`${key}: `))?.slice(key.length + 2) ?? null;
  const stream = toldOf(conditions, 'stream');
  return {
    name,
    method,
    path: getPattern(path),
    is_stream: stream === null ? null : stream === 'true',
    with: conditions.filter((line) => line.startsWith('with: ')).map((line) => getCondition(line.slice(6))),
    answers_anything: toldOf(told('='), 'answers') === 'anything',
    has_crlf: toldOf(told('='), 'line ends') === 'crlf',
    pieces: getPieces(told('=')),
    status: Number(status),
    headers: headers.flatMap((line) => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
    body,
  };
}

function getPattern(path: string): RegExp {
  const parts = path.split(/(\*\*|\*)/).map((part) => {
    if (part === '**') return '.*';
    return part === '*' ? '[^/]*' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
}

function getCondition(text: string): { member: string; value: string | null } {
  const at = text.indexOf('=');
  return at === -1 ? { member: text, value: null } : { member: text.slice(0, at), value: text.slice(at + 1) };
}

function getPieces(lines: readonly string[]): Record<string, string[]> {
  const own = lines.filter((line) => line.startsWith('pieces '));
  return Object.fromEntries(
    own.map((line) => {
      const [, name, json] = /^pieces (\S+) (.*)$/.exec(line) ?? [];
      return [name, JSON.parse(json ?? '') as string[]];
    }),
  );
}
