import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { UpstreamHttpAnswer } from './exchange.ts';
import { UpstreamFailure } from './failure.ts';
import { findHeader, removeHeader } from './headers.ts';

const DECODERS: ReadonlyMap<string, () => Transform> = new Map(
  Object.entries({
    gzip: createGunzip,
    'x-gzip': createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
    zstd: createZstdDecompress,
  }),
);

/**
 * Removes the content encoding of an answer, for providers that encode although the request forbids it. Decoding
 * follows the reader, so that a small answer cannot fill the memory. An unknown encoding is a failure, because such
 * an answer cannot be scanned.
 * @throws UpstreamFailure
 */
export function decodeAnswer(incoming: UpstreamHttpAnswer): UpstreamHttpAnswer {
  const encoding = findHeader(incoming.headers, 'content-encoding')?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return incoming;
  const decoder = DECODERS.get(encoding);
  if (decoder === undefined) {
    const failure = buildBrokenFailure('has an encoding that this service does not support');
    incoming.cut(failure);
    throw failure;
  }
  const headers = removeHeader(incoming.headers, 'content-encoding');
  return { ...incoming, headers, body: { [Symbol.asyncIterator]: () => decodeBody(incoming, decoder()) } };
}

async function* decodeBody(incoming: UpstreamHttpAnswer, decoder: Transform): AsyncGenerator<Uint8Array> {
  // The pipeline forwards errors to the decoder, which the loop below reads.
  pipeline(Readable.from(incoming.body, { objectMode: false, highWaterMark: 65_536 }), decoder, () => {});
  try {
    for await (const chunk of decoder) yield chunk as Uint8Array;
  } catch (fault) {
    const failure = fault instanceof UpstreamFailure ? fault : buildBrokenFailure('cannot be decoded');
    incoming.cut(failure);
    throw failure;
  }
}

function buildBrokenFailure(what: string): UpstreamFailure {
  return new UpstreamFailure('upstream_broken', `The provider’s answer ${what}.`);
}
