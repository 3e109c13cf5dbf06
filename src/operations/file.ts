import { isUtf8 } from 'node:buffer';
import { createContent, parseJsonSource } from '../core/json/source.ts';
import { hasHiddenMembers } from '../core/json/value-source.ts';
import type { WalkLimits } from '../core/json/walk.ts';
import { Type } from '../core/schema.ts';
import type { Content, Json } from '../core/types/index.ts';
import { readContentValue, runCheck } from './check.ts';
import { checkBody } from './check-body.ts';
import { type Context, defineOperation, Refusal } from './operation.ts';
import { buildVerdictReply, findChangedContent } from './reply.ts';
import { aboutText, readTextCrossing } from './scan.ts';
import { readServerFile } from './server-file.ts';
import { verdictProperties } from './shapes.ts';

export const scanFile = defineOperation({
  name: 'scan_file',
  summary: 'Scan a file',
  description:
    'Scans a file and decides by the `input` rules. Send the file as a multipart upload, as `name` and `content` (or `content_base64`), or as a `path` on the server below `scan.file_roots`. A file whose name ends in `.json` is read as JSON, every other file as text. JSON with duplicate member names is read as text too, because programs disagree on which member counts.',
  http: { method: 'POST', path: '/v1/scan/file', upload: true },
  permission: 'check',
  counts_checks: true,
  needs: 'policy',
  check_body: {},
  input: checkBody(
    Type.Object({
      name: Type.Optional(
        Type.String({ maxLength: 4096, description: 'The file’s name; `.json` makes it structured.' }),
      ),
      content: Type.Optional(Type.String({ description: 'The file’s text.' })),
      content_base64: Type.Optional(Type.String({ description: 'The file’s bytes; they must be UTF-8.' })),
      path: Type.Optional(
        Type.String({ minLength: 1, maxLength: 4096, description: 'A file of the server.' }),
      ),
      ...aboutText,
    }),
  ),
  output: Type.Object({
    ...verdictProperties,
    mode: Type.Enum(['text', 'structured']),
    size_bytes: Type.Integer(),
    modified_text: Type.Optional(
      Type.String({ description: 'The text to use instead; only when it was changed.' }),
    ),
    modified_payload: Type.Optional(
      Type.Unknown({ description: 'The JSON value to use instead; only when it was changed.' }),
    ),
  }),
  example: { name: 'notes.txt', content: 'Use key sk-ABCDEF1234567890' },
  answer: {
    decision: 'block',
    action: 'block',
    rule: 'builtin.secret.input',
    reason: 'A secret was found in input.',
    help: 'The content has a secret (`generic.sk_key`). Instead, name an environment variable or a secret reference. An operator can allow this value with `customshouse fingerprint add`.',
    event_id: 'evt_0123456789abcdef01234567',
    violations: [
      {
        type: 'secret_detected',
        detector: 'api_key',
        severity: 'critical',
        match: 'sk-ABCDEF1234567890',
        rule_id: 'generic.sk_key',
        tag: 'secret.credential.api_key',
        tags: ['secret.credential.api_key'],
        start: 8,
        end: 27,
      },
    ],
    scan_duration_ms: 1,
    coverage: 'full',
    mode: 'text',
    size_bytes: 27,
  },
  refusals: ['not_found', 'too_large'],
  async run(input, context) {
    const { name, text } = await readInput(input, context);
    const content = parseFileContent(name, text, context.runtime.policy().limits);
    const structured = content.kind === 'json';
    const crossing = {
      ...readTextCrossing('input', content, input, context),
      is_from_outside: true,
      content_label: 'untrusted.file',
    } as const;
    const ruling = await runCheck(
      { crossing, endpoint: 'scan_file', approval_request_id: input.approval_request_id },
      context,
    );
    const described = {
      ...buildVerdictReply(ruling, true),
      mode: structured ? ('structured' as const) : ('text' as const),
      size_bytes: Buffer.byteLength(text),
    };
    const changed = findChangedContent(ruling.verdict);
    if (changed === null) return described;
    if (changed.kind === 'text') return { ...described, modified_text: changed.text };
    return { ...described, modified_payload: readContentValue(changed) };
  },
});

interface FileInput {
  readonly name?: string | null;
  readonly content?: string | null;
  readonly content_base64?: string | null;
  readonly path?: string | null;
}

async function readInput(input: FileInput, context: Context): Promise<{ name: string; text: string }> {
  const given = [input.content, input.content_base64, input.path].filter((value) => value != null);
  if (given.length !== 1) {
    throw new Refusal('invalid_request', 'Send exactly one of `content`, `content_base64` and `path`.');
  }
  const name = input.name ?? input.path ?? '';
  if (input.content != null) return { name, text: requireOneEncoding(input.content) };
  if (input.content_base64 != null) return { name, text: decodeUtf8Text(decodeBase64(input.content_base64)) };
  const { limits } = context.runtime;
  return {
    name,
    text: decodeUtf8Text(await readServerFile(input.path ?? '', limits, limits.body_bytes_max)),
  };
}

/** Decodes base64 strictly. Node skips invalid characters, so that the scan would judge bytes that were never sent. */
function decodeBase64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  const significant = text.replace(/[\r\n=]/g, '').length;
  const whole = bytes.length === Math.floor((significant * 3) / 4);
  if (whole && /^[A-Za-z0-9+/_=\r\n-]*$/.test(text)) return bytes;
  throw new Refusal('invalid_request', '`content_base64` is not base64.', [
    { path: 'content_base64', message: 'must be base64' },
  ]);
}

/** Decodes the bytes of a file. Throws a `Refusal` if they are not valid UTF-8. */
export function decodeUtf8Text(bytes: Buffer): string {
  if (isUtf8(bytes)) return requireOneEncoding(bytes.toString('utf8'));
  throw buildNotUtf8Refusal();
}

/** Matches four characters in a row with NULs between them: UTF-16 or UTF-32, in either byte order. */
const WIDE = /(?:[^\0]\0{1,3}){4}/;

/**
 * Refuses text in UTF-16 or UTF-32 without a byte order mark. It can be valid UTF-8 too, but no pattern would match in
 * it.
 */
function requireOneEncoding(text: string): string {
  if (text.includes('\0') && WIDE.test(text)) throw buildNotUtf8Refusal();
  return text;
}

function buildNotUtf8Refusal(): Refusal {
  return new Refusal('invalid_request', 'The file is not UTF-8 text. Convert it, or extract its text first.');
}

function parseFileContent(name: string, text: string, limits: WalkLimits): Content {
  if (!name.toLowerCase().endsWith('.json')) return { kind: 'text', text };
  // Editors on Windows start a file with a byte order mark, which is not valid JSON.
  const document = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const value = parseJsonFile(document);
  if (hasHiddenMembers(document, value)) return { kind: 'text', text };
  // A document over a limit has no source positions; the limit blocks it.
  return createContent(value, parseJsonSource(document, limits));
}

function parseJsonFile(document: string): Json {
  try {
    return JSON.parse(document) as Json;
  } catch {
    throw new Refusal(
      'invalid_request',
      'The file’s name ends in `.json`, but its content is not valid JSON.',
    );
  }
}
