import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { Refusal } from '../../operations/operation.ts';

/** Bytes of bodies that one worker holds at a time; a single one always has room. */
const ROOM_BYTES_MAX = 268_435_456;
/** Smaller bodies are not counted: as many as there can be connections have room beside the large ones. */
const SMALL_BODY_BYTES = 65_536;

/**
 * Gives the stream to read a body from, or refuses it with `unavailable`: many clients that each send a large
 * body, and slowly, would else fill the memory. A body counts by its announced length, one that comes in chunks
 * by what has come; both until the answer is out.
 */
export type BodyRoom = (
  payload: Readable,
  headers: IncomingHttpHeaders,
  response: ServerResponse,
) => Readable | Refusal;

/**
 * Makes the room for one worker: `room_bytes_max` for all bodies that are being read, `body_bytes_max` for each.
 * In goes a body's stream, out comes the stream to read instead, or a refusal when the room is full.
 */
export function bodyRoom(body_bytes_max: number, room_bytes_max = ROOM_BYTES_MAX): BodyRoom {
  const most = Math.max(room_bytes_max, body_bytes_max);
  let held = 0;
  const take = (bytes: number): boolean => {
    if (held + bytes > most) return false;
    held += bytes;
    return true;
  };
  return (payload, headers, response) => {
    const announced = Number(headers['content-length'] ?? 0);
    if (headers['transfer-encoding'] !== undefined) {
      const counted = { bytes: 0 };
      response.once('close', () => {
        held -= counted.bytes;
      });
      return counting(payload, counted, take);
    }
    // One that is too long is refused before any of it is read.
    if (announced <= SMALL_BODY_BYTES || announced > body_bytes_max) return payload;
    if (!take(announced)) return noRoom();
    response.once('close', () => {
      held -= announced;
    });
    return payload;
  };
}

function counting(payload: Readable, counted: { bytes: number }, take: (bytes: number) => boolean): Readable {
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!take(chunk.length)) return done(noRoom());
      counted.bytes += chunk.length;
      done(null, chunk);
    },
  });
  payload.on('error', (error) => counter.destroy(error));
  // What still comes is let go of, or the connection would be stuck behind it.
  counter.once('error', () => payload.resume());
  return payload.pipe(counter);
}

function noRoom(): Refusal {
  return new Refusal('unavailable', 'Too many large bodies are being read at the moment. Try again.');
}
