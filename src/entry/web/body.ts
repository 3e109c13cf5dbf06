import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseJson as parseRemembered } from '../../core/json/value-source.ts';
import { decodeUtf8Text } from '../../operations/file.ts';
import { Refusal } from '../../operations/operation.ts';
import { hasMoreNodes } from './json-size.ts';

/** `application/json`, and whatever else calls itself JSON: `application/problem+json`. */
const JSON_TYPES = /^application\/(?:[\w.-]+\+)?json(?:;|$)/i;

const MULTIPART = /^multipart\/form-data(?:;|$)/i;

/** How many parts a body may have for each that a check looks at; more cost too much to parse. */
const NODES_FACTOR = 2;

/** So many parts of a body cost little, so that a low `scan.nodes_max` gives a verdict and no refusal. */
const NODES_MIN = 10_000;

/**
 * Reads bodies as the operations take them. An empty body is `undefined`, whatever its type. A body with more
 * than twice `scan.nodes_max` parts, and more than 10,000, is refused before it is parsed.
 */
export function addBodyParsers(app: FastifyInstance, scanNodesMax: () => number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(JSON_TYPES, { parseAs: 'buffer' }, (request, bytes, done) => {
    let body: unknown;
    try {
      const { readBody } = request.routeOptions.config;
      const nodes_max = Math.max(NODES_MIN, scanNodesMax() * NODES_FACTOR);
      body = parseJson(bytes, request.headers['content-type'] ?? '', nodes_max, readBody);
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
  nodes_max: number,
  readBody = (text: string) => text,
): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8Type(type)) throw new Refusal('unsupported_media_type', 'Send JSON as UTF-8.');
  if (!isUtf8(bytes)) throw new Refusal('invalid_request', 'The body is not valid UTF-8.');
  if (hasMoreNodes(bytes, nodes_max)) {
    throw new Refusal(
      'too_large',
      `The body has more than ${nodes_max} keys and values. Send less, or raise \`scan.nodes_max\`.`,
    );
  }
  const text = bytes.toString('utf8');
  try {
    return parseRemembered(readBody(text));
  } catch {
    // The parser's own message holds a piece of the text.
    throw new Refusal('invalid_request', 'The body is not valid JSON.');
  }
}

/** JSON is UTF-8; a `charset` that says otherwise announces bytes that would be misread. */
function isUtf8Type(type: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset) || /^us-ascii$/i.test(charset);
}

/**
 * One file, and beside it the fields that say whom it concerns: as the `scan_file` operation takes them. The
 * whole body was read before, under the limit of every body.
 */
async function parseUpload(bytes: Buffer, type: string): Promise<unknown> {
  const form = await formOf(bytes, type);
  const files = [...form.values()].filter((value) => typeof value !== 'string');
  const [file] = files;
  if (file === undefined || files.length > 1) {
    throw new Refusal('invalid_request', 'Upload exactly one file.');
  }
  const { tool, ...fields } = Object.fromEntries([...form].filter(([, value]) => typeof value === 'string'));
  // What the fields do not know is refused as in JSON; the file has its own name and content.
  return {
    ...fields,
    name: file.name,
    content: decodeUtf8Text(Buffer.from(await file.arrayBuffer())),
    ...(tool !== undefined && { context: { tool } }),
  };
}

/** One file and the fields beside it; thousands of parts would cost far more than their bytes. */
const PARTS_MAX = 16;

async function formOf(bytes: Buffer, type: string): Promise<FormData> {
  if (partsOf(bytes, type, PARTS_MAX) > PARTS_MAX)
    throw new Refusal('invalid_request', `An upload has at most ${PARTS_MAX} parts.`);
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  } catch {
    throw new Refusal('invalid_request', 'The body is not valid `multipart/form-data`.');
  }
}

/** How many parts there are, counted as far as one over `most`. */
function partsOf(bytes: Buffer, type: string, most: number): number {
  const boundary = /;\s*boundary\s*=\s*"?([^";]+)/i.exec(type)?.[1] ?? '';
  const delimiter = `\r\n--${boundary}`;
  let parts = 0;
  // The first stands at the beginning, with no line before it; the last ends the list.
  for (let at = bytes.indexOf(delimiter); at >= 0 && parts <= most; at = bytes.indexOf(delimiter, at + 1))
    parts += 1;
  return parts;
}

/** Refused before the body is read: a compressed one would be looked at as it is, and found harmless. */
export function refuseEncoded(request: FastifyRequest): Refusal | null {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return null;
  return new Refusal('unsupported_media_type', 'Send the body without `Content-Encoding`.');
}
