import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { Refusal } from '../../operations/operation.ts';

/** Maximum bytes of bodies that one worker holds at a time. A single body always fits. */
const BODIES_BYTES_MAX = 268_435_456;
/** Smaller bodies are not counted: there is memory for one per connection next to the large ones. */
const SMALL_BODY_BYTES = 65_536;

/**
 * Returns the stream from which to read a body, or a refusal with `unavailable`. Otherwise many clients that each send
 * a large body slowly would exhaust the memory. A body counts with its announced length, a chunked one with the bytes
 * received so far; both count until the response is sent.
 */
export type BodyMemoryLimit = (
  payload: Readable,
  headers: IncomingHttpHeaders,
  response: ServerResponse,
) => Readable | Refusal;

/** Age in milliseconds at which an incomplete body may be closed in favour of another. */
const STALLED_MS = 2_000;

interface HeldBody {
  readonly response: ServerResponse;
  readonly began_ms: number;
  bytes: number;
}

/**
 * Limits the bodies of one worker: `bodiesBytesMax` for all bodies that are being read, `body_bytes_max` for each.
 * The function takes the stream of a body and returns the stream to read instead, or a refusal if the memory is full.
 * Full memory closes the connections of bodies that have been incomplete for two seconds, the oldest first.
 */
export function limitBodyMemory(bodyBytesMax: number, bodiesBytesMax = BODIES_BYTES_MAX): BodyMemoryLimit {
  const most = Math.max(bodiesBytesMax, bodyBytesMax);
  const held = new Set<HeldBody>();
  let heldBytes = 0;
  const release = (body: HeldBody): void => {
    if (held.delete(body)) heldBytes -= body.bytes;
  };
  const hold = (response: ServerResponse): HeldBody => {
    const body = { response, began_ms: performance.now(), bytes: 0 };
    held.add(body);
    response.once('close', () => release(body));
    return body;
  };
  const take = (body: HeldBody, bytes: number): boolean => {
    if (heldBytes + bytes > most) closeStalled(held, body, release);
    if (!held.has(body) || heldBytes + bytes > most) return false;
    heldBytes += bytes;
    body.bytes += bytes;
    return true;
  };
  const admit = (body: HeldBody, bytes: number): Refusal | null => {
    if (body.bytes + bytes > bodyBytesMax) return buildSizeRefusal('more', bodyBytesMax);
    return take(body, bytes) ? null : buildMemoryRefusal();
  };
  return (payload, headers, response) => {
    const announced = Number(headers['content-length'] ?? 0);
    if (headers['transfer-encoding'] !== undefined) {
      const body = hold(response);
      return createCountingStream(payload, (bytes) => admit(body, bytes));
    }
    if (announced > bodyBytesMax) return buildSizeRefusal(announced, bodyBytesMax);
    if (announced <= SMALL_BODY_BYTES) return payload;
    const body = hold(response);
    if (take(body, announced)) return payload;
    release(body);
    return buildMemoryRefusal();
  };
}

/** Closes the connections of stalled bodies, so that a few slow clients do not lock out all others. */
function closeStalled(
  held: ReadonlySet<HeldBody>,
  asking: HeldBody,
  release: (body: HeldBody) => void,
): void {
  const beforeMs = performance.now() - STALLED_MS;
  for (const body of held) {
    // A `Set` iterates from the oldest to the newest.
    if (body.began_ms > beforeMs) return;
    if (body === asking || body.response.req.complete) continue;
    release(body);
    body.response.destroy();
  }
}

function createCountingStream(payload: Readable, admit: (bytes: number) => Refusal | null): Readable {
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const refusal = admit(chunk.length);
      if (refusal === null) done(null, chunk);
      else done(refusal);
    },
  });
  payload.on('error', (error) => counter.destroy(error));
  // Discards the remaining bytes; otherwise they would block the connection.
  counter.once('error', () => payload.resume());
  return payload.pipe(counter);
}

function buildSizeRefusal(bytes: number | 'more', bodyBytesMax: number): Refusal {
  const size = bytes === 'more' ? 'is larger than the limit' : `has ${bytes} bytes, more than the limit`;
  return new Refusal('too_large', `The body ${size} of ${bodyBytesMax} bytes (\`server.body_bytes_max\`).`);
}

function buildMemoryRefusal(): Refusal {
  return new Refusal('unavailable', 'Too many large bodies are being read at the moment. Try again.');
}
