import { isUtf8 } from 'node:buffer';
import { deserializeMessage } from '@modelcontextprotocol/server';
import { createSseReader, replaceData, type SsePiece } from '../../core/wire/sse.ts';
import { attachSource } from './exact-numbers.ts';
import { ServerFailure } from './server-failure.ts';

/** The line reader of the MCP library, as its transport uses it. */
interface LineReader {
  append(chunk: Uint8Array): void;
  /** Returns `null` if no complete line is available. Throws on a message that the protocol does not define. */
  readMessage(): unknown;
  clear(): void;
}

/**
 * Makes a stdio transport read messages with their source texts. The MCP library has no option for that, so this
 * replaces its private line reader; a test verifies that the library still uses it.
 * @param bytes_max - the maximum bytes of a message; a longer one is an error that closes the transport
 */
export function getReadSources<T extends object>(transport: T, bytes_max: number): T {
  const holder = transport as unknown as { _readBuffer?: LineReader };
  if (holder._readBuffer === undefined)
    throw new Error('The MCP library reads lines in another way than it did.');
  holder._readBuffer = openLineReader(bytes_max);
  return transport;
}

const LF = 10;

function openLineReader(bytes_max: number): LineReader {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let lines: string[] = [];
  const clear = () => {
    pieces = [];
    bytes = 0;
    lines = [];
  };
  const add = (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes > bytes_max) {
      clear();
      throw new Error(`A message has more than ${bytes_max} bytes.`);
    }
    pieces.push(piece);
  };
  return {
    clear,
    append: (chunk) => {
      let at = 0;
      for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, at)) {
        add(chunk.subarray(at, end));
        lines.push(Buffer.concat(pieces).toString('utf8'));
        pieces = [];
        bytes = 0;
        at = end + 1;
      }
      if (at < chunk.length) add(chunk.subarray(at));
    },
    readMessage: () => {
      for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
        try {
          return deserializeMessage(attachSource(line));
        } catch (error) {
          // Programs also print lines that are not messages.
          if (!(error instanceof SyntaxError)) throw error;
        }
      }
      return null;
    },
  };
}

/** Returns the same response with source texts attached to its messages. Its body is already limited. */
export function attachResponseSources(response: Response, event_units_max: number): Response {
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const mark = /^text\/event-stream/i.test(type) ? createEventMarker(event_units_max) : createBodyMarker();
  return new Response(response.body.pipeThrough(mark), { status, statusText, headers });
}

function createBodyMarker(): TransformStream<Uint8Array, Uint8Array> {
  const pieces: Uint8Array[] = [];
  return new TransformStream({
    transform: (piece) => void pieces.push(piece),
    flush: (controller) => {
      const bytes = Buffer.concat(pieces);
      controller.enqueue(isUtf8(bytes) ? Buffer.from(attachSource(bytes.toString('utf8'))) : bytes);
    },
  });
}

function createEventMarker(event_units_max: number): TransformStream<Uint8Array, Uint8Array> {
  const reader = createSseReader({ event_units_max });
  const write = (
    { events, problem }: SsePiece,
    controller: TransformStreamDefaultController<Uint8Array>,
  ): void => {
    for (const event of events) {
      const data = attachSource(event.data);
      controller.enqueue(Buffer.from(data === event.data ? event.raw : replaceData(event, data)));
    }
    if (problem !== null)
      controller.error(new ServerFailure(problem === 'utf8' ? 'invalid_response' : 'too_long'));
  };
  return new TransformStream({
    transform: (piece, controller) => write(reader.read(piece), controller),
    flush: (controller) => write(reader.end(), controller),
  });
}
