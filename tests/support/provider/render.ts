/** Converts a recording to the bytes of the answer, and splits them. */
import { createBrotliCompress, createGzip, constants as zlib } from 'node:zlib';
import type { ProviderRecording } from './recording.ts';

export interface RenderedReply {
  /** Pieces of texts in place of the recording's own. */
  readonly pieces?: Readonly<Record<string, readonly string[]>> | undefined;
  /** `true` if the request asks for usage in its stream. */
  readonly has_usage: boolean;
}

/** Returns the events of a stream, or a whole body as the only event. */
export function render(
  recording: ProviderRecording,
  { pieces, has_usage }: RenderedReply,
): readonly Buffer[] {
  const all = { ...recording.pieces, ...pieces };
  let count = 0;
  const fill = (event: string, piece: string | null): string =>
    event.replaceAll(/\{\{([a-z]+)(?: ([\w-]+))?\}\}/g, (mark, word: string, name: string | undefined) => {
      if (word === 'n') return `${count++}`;
      if (word === 'if') return '';
      if (word === 'usage') return has_usage ? ',"usage":null' : '';
      if (word === 'piece' && piece !== null) return inJson(piece);
      if (word === 'all') return inJson(piecesNamed(all, name, recording).join(''));
      if (word === 'raw') return piecesNamed(all, name, recording).join('');
      throw new Error(`the recording \`${recording.name}\` has the mark \`${mark}\``);
    });
  const events = getEvents(recording.body)
    .filter((event) => has_usage || !event.startsWith('{{if usage}}'))
    .flatMap((event) => {
      const name = /\{\{piece ([\w-]+)\}\}/.exec(event)?.[1];
      if (name === undefined) return [fill(event, null)];
      return piecesNamed(all, name, recording).map((piece) => fill(event, piece));
    });
  return events.map((event) => Buffer.from(recording.has_crlf ? event.replaceAll('\n', '\r\n') : event));
}

function getEvents(body: string): readonly string[] {
  return body.split(/(?<=\n\n)/);
}

function piecesNamed(
  all: Readonly<Record<string, readonly string[]>>,
  name: string | undefined,
  { name: recording }: ProviderRecording,
): readonly string[] {
  const found = all[name ?? ''];
  if (found === undefined) throw new Error(`the recording \`${recording}\` has no pieces named \`${name}\``);
  return found;
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Returns a stream as Gemini sends it to clients that do not request server-sent events: one array. */
export function asArray(events: readonly Buffer[]): readonly Buffer[] {
  const values = events.map((event) =>
    event
      .toString('utf8')
      .replace(/^data: /, '')
      .trim(),
  );
  return values.map((value, at) =>
    Buffer.from(`${at === 0 ? '[' : ','}${value}${at === values.length - 1 ? ']' : '\r\n'}`),
  );
}

/** Returns the same bytes in pieces: one per event, or of the given size. */
export function cut(events: readonly Buffer[], bytes: number | null): readonly Buffer[] {
  if (bytes === null) return events;
  const all = Buffer.concat(events);
  return Array.from({ length: Math.ceil(all.length / bytes) }, (_, at) =>
    all.subarray(at * bytes, (at + 1) * bytes),
  );
}

/** Compresses like a provider's edge: the client can read all bytes sent so far at once. */
export async function compress(
  writes: readonly Buffer[],
  encoding: 'gzip' | 'br',
): Promise<readonly Buffer[]> {
  const stream =
    encoding === 'gzip'
      ? createGzip({ flush: zlib.Z_SYNC_FLUSH })
      : createBrotliCompress({ flush: zlib.BROTLI_OPERATION_FLUSH });
  const out: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => out.push(chunk));
  const ended = new Promise<void>((resolve, reject) => stream.once('end', resolve).once('error', reject));
  const compressed: Buffer[] = [];
  const take = (): void => void compressed.push(Buffer.concat(out.splice(0)));
  for (const write of writes) {
    await new Promise<void>((resolve) => stream.write(write, () => resolve()));
    take();
  }
  stream.end();
  await ended;
  take();
  return compressed.filter((chunk) => chunk.length > 0);
}
