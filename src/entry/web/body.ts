import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseJson as parseRemembered } from '../../core/json/value-source.ts';
import { decodeUtf8Text } from '../../operations/file.ts';
import { Refusal } from '../../operations/operation.ts';
import { hasMoreNodes } from './json-size.ts';

/** Matches `application/json` and types with the suffix `+json`, such as `application/problem+json`. */
const JSON_TYPES = /^application\/(?:[\w.-]+\+)?json(?:;|$)/i;

const MULTIPART = /^multipart\/form-data(?:;|$)/i;

/** Maximum number of values in a body, as a multiple of `scan.nodes_max`. More cost too much to parse. */
const NODES_FACTOR = 2;

/** Minimum of that limit, so that a low `scan.nodes_max` gives a verdict and not a refusal. */
const NODES_MIN = 10_000;

/**
 * Adds the parsers of bodies for operations. An empty body is `undefined`, whatever its type. A body with more than
 * twice `scan.nodes_max` values, and more than 10,000, is refused before it is parsed.
 */
export function addBodyParsers(app: FastifyInstance, scanNodesMax: () => number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(JSON_TYPES, { parseAs: 'buffer' }, (request, bytes, done) => {
    let body: unknown;
    try {
      const { readBody } = request.routeOptions.config;
      const nodesMax = Math.max(NODES_MIN, scanNodesMax() * NODES_FACTOR);
      body = parseJson(bytes, request.headers['content-type'] ?? '', nodesMax, readBody);
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, body);
  });
  app.addContentTypeParser<Buffer>(
    MULTIPART,
    { parseAs: 'buffer' },
    (request: FastifyRequest, bytes: Buffer) => parseUpload(bytes, request.headers['content-type'] ?? ''),
  );
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Changes the text of a JSON body before it is parsed. */
    readBody?: (text: string) => string;
  }
}

function parseJson(
  bytes: Buffer,
  type: string,
  nodesMax: number,
  readBody = (text: string) => text,
): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8Type(type)) throw new Refusal('unsupported_media_type', 'Send JSON as UTF-8.');
  if (!isUtf8(bytes)) throw new Refusal('invalid_request', 'The body is not valid UTF-8.');
  if (hasMoreNodes(bytes, nodesMax)) {
    throw new Refusal(
      'too_large',
      `The body has more than ${nodesMax} keys and values. Send less, or raise \`scan.nodes_max\`.`,
    );
  }
  const text = bytes.toString('utf8');
  try {
    return parseRemembered(readBody(text));
  } catch {
    // The parser's own message contains a part of the text.
    throw new Refusal('invalid_request', 'The body is not valid JSON.');
  }
}

/** Returns whether the type is UTF-8 or has no `charset`. Bytes in another encoding would be misread. */
function isUtf8Type(type: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset) || /^us-ascii$/i.test(charset);
}

/**
 * Parses an upload for the `scan_file` operation: one file, and fields that say whom it concerns. The whole body was
 * read before, within the limit of every body.
 */
async function parseUpload(bytes: Buffer, type: string): Promise<unknown> {
  const form = await getForm(bytes, type);
  const files = [...form.values()].filter((value) => typeof value !== 'string');
  const [file] = files;
  if (file === undefined || files.length > 1) {
    throw new Refusal('invalid_request', 'Upload exactly one file.');
  }
  const { tool, ...fields } = Object.fromEntries([...form].filter(([, value]) => typeof value === 'string'));
  // Unknown fields are refused as in JSON. The file brings its own name and content.
  return {
    ...fields,
    name: file.name,
    content: decodeUtf8Text(Buffer.from(await file.arrayBuffer())),
    ...(tool !== undefined && { context: { tool } }),
  };
}

/** Maximum number of parts: one file and its fields. Thousands of parts would cost far more than their bytes. */
const PARTS_MAX = 16;

async function getForm(bytes: Buffer, type: string): Promise<FormData> {
  if (getParts(bytes, type, PARTS_MAX) > PARTS_MAX)
    throw new Refusal('invalid_request', `An upload has at most ${PARTS_MAX} parts.`);
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  } catch {
    throw new Refusal('invalid_request', 'The body is not valid `multipart/form-data`.');
  }
}

/** Counts the parts, at most up to `most` plus one. */
function getParts(bytes: Buffer, type: string, most: number): number {
  const boundary = /;\s*boundary\s*=\s*"?([^";]+)/i.exec(type)?.[1] ?? '';
  const delimiter = `\r\n--${boundary}`;
  let parts = 0;
  // The first delimiter starts the body without a preceding line break; the last one ends the list.
  for (let at = bytes.indexOf(delimiter); at >= 0 && parts <= most; at = bytes.indexOf(delimiter, at + 1))
    parts += 1;
  return parts;
}

/** Refuses a compressed body before it is read, because its bytes would be scanned undecoded and found harmless. */
export function refuseEncoded(request: FastifyRequest): Refusal | null {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return null;
  return new Refusal('unsupported_media_type', 'Send the body without `Content-Encoding`.');
}
