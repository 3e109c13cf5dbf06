import { isUtf8 } from 'node:buffer';
import { deserializeMessage } from '@modelcontextprotocol/server';
import { createSseReader, replaceData, type SsePiece } from '../../core/wire/sse.ts';
import { attachSource } from './exact-numbers.ts';
import { ServerFailure } from './server-failure.ts';
import {
  buildTooLongAnswer,
  buildUnreadableAnswer,
  type ErrorAnswer,
  findMessageId,
} from './unreadable-messages.ts';

/** The line reader of the MCP library, as its transport uses it. */
interface LineReader {
  append(chunk: Uint8Array): void;
  /** Returns `null` if no complete line is available. Throws on a message that the protocol does not define. */
  readMessage(): unknown;
  clear(): void;
}

/** Options of the line reader of a stdio transport. */
export interface LineReading {
  /** The maximum bytes of a message. */
  readonly bytes_max: number;
  /** Returns the text of a message to parse. By default the source texts of its numbers are attached. */
  readonly prepare?: (line: string) => string;
  /**
   * Receives the answer to a line that is not a message. Without it such lines are skipped, because programs also print
   * them.
   */
  readonly answer?: (answer: ErrorAnswer | readonly ErrorAnswer[]) => void;
}

/**
 * Makes a stdio transport read messages with their source texts. The MCP library has no option for that, so this
 * replaces its private line reader; a test verifies that the library still uses it. Instead of a message over the limit
 * it reads an error for the same request; without an id the error closes the transport.
 */
export function getReadSources<T extends object>(transport: T, reading: LineReading): T {
  if (!hasLineReader(transport)) throw new Error('The MCP library reads lines in another way than it did.');
  transport._readBuffer = openLineReader(reading);
  return transport;
}

function hasLineReader(transport: object): transport is { _readBuffer: LineReader } {
  return '_readBuffer' in transport && transport._readBuffer !== undefined;
}

const LF = 10;
/** The bytes at both ends of a message over the limit in which its id is looked for. */
const END_BYTES = 1_024;

interface Line {
  readonly pieces: Uint8Array[];
  bytes: number;
  /** The last bytes of a line over the limit; `null` for any other line. */
  tail: Buffer | null;
}

function openLineReader({ bytes_max, prepare = attachSource, answer }: LineReading): LineReader {
  let line = beginLine();
  let lines: Line[] = [];
  const add = (piece: Uint8Array) => {
    line.bytes += piece.length;
    if (line.bytes <= bytes_max) line.pieces.push(piece);
    else cutLine(line, piece);
  };
  const readLine = (read: Line): unknown => {
    if (read.tail !== null) return answerTooLong(read, bytes_max, answer);
    const text = Buffer.concat(read.pieces).toString('utf8');
    try {
      return deserializeMessage(prepare(text));
    } catch (error) {
      if (answer === undefined && !(error instanceof SyntaxError)) throw error;
      const reply = answer === undefined || text.trim() === '' ? null : buildUnreadableAnswer(text);
      if (reply !== null) answer?.(reply);
      return null;
    }
  };
  return {
    clear: () => {
      line = beginLine();
      lines = [];
    },
    append: (chunk) => {
      let at = 0;
      for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, at)) {
        add(chunk.subarray(at, end));
        lines.push(line);
        line = beginLine();
        at = end + 1;
      }
      if (at < chunk.length) add(chunk.subarray(at));
    },
    readMessage: () => {
      for (let next = lines.shift(); next !== undefined; next = lines.shift()) {
        const message = readLine(next);
        if (message !== null) return message;
      }
      return null;
    },
  };
}

function beginLine(): Line {
  return { pieces: [], bytes: 0, tail: null };
}

/** Keeps only both ends of a line over the limit. */
function cutLine(line: Line, piece: Uint8Array): void {
  const known = line.tail === null ? line.pieces : [line.tail];
  const end = Buffer.concat([...known, piece]);
  if (line.tail === null) line.pieces.splice(0, Infinity, Buffer.from(end.subarray(0, END_BYTES)));
  line.tail = Buffer.from(end.subarray(-END_BYTES));
}

function answerTooLong(
  { pieces, bytes, tail }: Line,
  bytesMax: number,
  answer: LineReading['answer'],
): ErrorAnswer | null {
  const id = findMessageId(Buffer.concat(pieces).toString('utf8'), tail!.toString('utf8'));
  if (answer !== undefined) {
    answer(buildTooLongAnswer(id, `The message has ${bytes} bytes. The limit is ${bytesMax} bytes.`));
    return null;
  }
  const failure = new ServerFailure('too_long', bytesMax);
  if (id === null) throw failure;
  return buildTooLongAnswer(id, failure.message);
}

/** Returns the same response with source texts attached to its messages. Its body is already limited. */
export function attachResponseSources(response: Response, eventUnitsMax: number): Response {
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const mark = /^text\/event-stream/i.test(type) ? createEventMarker(eventUnitsMax) : createBodyMarker();
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

function createEventMarker(eventUnitsMax: number): TransformStream<Uint8Array, Uint8Array> {
  const reader = createSseReader({ event_units_max: eventUnitsMax });
  const write = (
    { events, problem }: SsePiece,
    controller: TransformStreamDefaultController<Uint8Array>,
  ): void => {
    for (const event of events) {
      const data = attachSource(event.data);
      controller.enqueue(Buffer.from(data === event.data ? event.raw : replaceData(event, data)));
    }
    if (problem !== null)
      controller.error(
        problem === 'utf8'
          ? new ServerFailure('invalid_response')
          : new ServerFailure('too_long', eventUnitsMax),
      );
  };
  return new TransformStream({
    transform: (piece, controller) => write(reader.read(piece), controller),
    flush: (controller) => write(reader.end(), controller),
  });
}
