import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { EMAIL, KEY, post, runScenarios, type Scenario, SSN } from './testing/scenarios.ts';
import type { TestRequest } from './testing/serve.ts';

const scratch = mkdtempSync(join(tmpdir(), 'files-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const roots = join(scratch, 'roots');
mkdirSync(join(roots, 'folder'), { recursive: true });
writeFileSync(join(scratch, 'outside.txt'), KEY);
writeFileSync(join(roots, 'notes.txt'), `Use key ${KEY}`);
writeFileSync(join(roots, 'data.json'), JSON.stringify({ deep: [{ key: KEY }] }));
writeFileSync(join(roots, 'latin.txt'), Buffer.from([0x63, 0x61, 0x66, 0xe9]));
symlinkSync(join(scratch, 'outside.txt'), join(roots, 'link.txt'));
symlinkSync(join(roots, 'notes.txt'), join(roots, 'inner.txt'));

const scanFile = (body: unknown) => post('/v1/scan/file', body);

function upload(
  parts: readonly { name: string; filename?: string; content: string | Buffer }[],
): TestRequest {
  const boundary = 'xYzZY';
  const chunks = parts.flatMap(({ name, filename, content }) => [
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n`,
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return {
    path: '/v1/scan/file',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
  };
}

/** Encodes the text in UTF-16 or UTF-32 without a byte order mark. */
function encodeText(text: string, encoding: 'utf16le' | 'utf16be' | 'utf32le'): Buffer {
  if (encoding === 'utf32le')
    return Buffer.from(new Uint32Array([...text].map((char) => char.codePointAt(0)!)).buffer);
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'utf16be' ? bytes.swap16() : bytes;
}

const scenarios: readonly Scenario[] = [
  {
    name: 'a file by name and content',
    ask: scanFile({ name: 'notes.txt', content: `Use key ${KEY}` }),
    has: { decision: 'block', mode: 'text', size_bytes: 27, violations: [{ match: KEY }] },
  },
  {
    name: 'a file as base64',
    ask: scanFile({
      name: 'N.JSON',
      content_base64: Buffer.from(JSON.stringify({ k: EMAIL })).toString('base64'),
    }),
    has: { decision: 'modify', mode: 'structured', modified_payload: { k: '[REDACTED]' } },
  },
  {
    name: 'a file with a byte order mark',
    ask: scanFile({ name: 'a.json', content: '\ufeff{"a":1}' }),
    has: { decision: 'allow', mode: 'structured', size_bytes: 10 },
  },
  {
    name: 'JSON in which one of two members of one name hides',
    ask: scanFile({ name: 'a.json', content: `{"a":[{"k":"${KEY}","k":"x"}]}` }),
    has: { decision: 'block', mode: 'text', violations: [{ match: KEY }] },
  },
  {
    name: 'JSON in which no member hides',
    ask: scanFile({ name: 'a.json', content: `{"a":[{"k":"x"},{"k":"x","":1}]}` }),
    has: { decision: 'allow', mode: 'structured' },
  },
  {
    name: 'an upload',
    ask: upload([
      { name: 'agent_id', content: 'uploader' },
      { name: 'file', filename: 'notes.txt', content: `My number is ${SSN}` },
    ]),
    has: { decision: 'modify', mode: 'text', modified_text: 'My number is [REDACTED]' },
  },
  {
    name: 'an upload of JSON',
    ask: upload([{ name: 'f', filename: 'd.json', content: JSON.stringify({ deep: { key: KEY } }) }]),
    has: { decision: 'block', mode: 'structured', violations: [{ path: '$.deep.key' }] },
  },
  {
    name: 'a file of the server',
    ask: scanFile({ path: join(roots, 'notes.txt') }),
    has: { decision: 'block', mode: 'text' },
    forbidden: [scratch],
  },
  {
    name: 'a file of the server, relative to the root',
    ask: scanFile({ path: 'data.json' }),
    has: { decision: 'block', mode: 'structured', violations: [{ path: '$.deep[0].key' }] },
  },
  {
    name: 'a link that stays inside',
    ask: scanFile({ path: 'inner.txt' }),
    has: { decision: 'block' },
  },
  ...[
    'missing.txt',
    '../outside.txt',
    'folder/../../outside.txt',
    join(scratch, 'outside.txt'),
    '/etc/passwd',
    'link.txt',
    'folder',
    '.',
    `${roots}-other/x`,
    'notes.txt\0.png',
    'notes.txt/x',
    `${'a/'.repeat(2000)}b`,
  ].map(
    (path): Scenario => ({
      name: `no file below the roots: ${path.slice(0, 30)}`,
      ask: scanFile({ path }),
      status: 404,
      has: { code: 'not_found', error: 'There is no such file below `scan.file_roots`.' },
      forbidden: [scratch],
    }),
  ),
  {
    name: 'a file that is no UTF-8',
    ask: scanFile({ path: 'latin.txt' }),
    status: 400,
    has: { code: 'invalid_request' },
  },
  {
    name: 'an upload that is no UTF-8',
    ask: upload([{ name: 'f', filename: 'a.txt', content: Buffer.from([0xff, 0xfe, 0x00]) }]),
    status: 400,
    has: { code: 'invalid_request' },
  },
  ...(['utf16le', 'utf16be', 'utf32le'] as const).flatMap((encoding): Scenario[] => [
    {
      name: `an upload in ${encoding} without a mark`,
      ask: upload([{ name: 'f', filename: 'a.txt', content: encodeText(`Use key ${KEY}`, encoding) }]),
      status: 400,
      has: { code: 'invalid_request' },
    },
    {
      name: `a file in ${encoding} that was read as UTF-8`,
      ask: scanFile({ name: 'a.txt', content: encodeText(KEY, encoding).toString('utf8') }),
      status: 400,
      has: { code: 'invalid_request' },
    },
  ]),
  {
    name: 'a list that NULs end, as programs write it',
    ask: scanFile({ name: 'a.txt', content: `notes.txt\0a\0b\0key ${KEY}\0\0` }),
    has: { decision: 'block', violations: [{ match: KEY }] },
  },
  {
    name: 'base64 that is none',
    ask: scanFile({ name: 'a', content_base64: `${KEY}!` }),
    status: 400,
    has: { details: [{ path: 'content_base64', message: 'must be base64' }] },
    forbidden: [KEY],
  },
  {
    name: 'base64 with something behind its end',
    ask: scanFile({ name: 'a', content_base64: 'YQ==YWJj' }),
    status: 400,
    has: { code: 'invalid_request' },
  },
  {
    name: 'JSON that is none',
    ask: scanFile({ name: 'a.json', content: `{"k": "${KEY}"` }),
    status: 400,
    has: { code: 'invalid_request' },
    forbidden: [KEY],
  },
  {
    name: 'two files at once',
    ask: upload([1, 2].map((n) => ({ name: 'f', filename: `${n}`, content: '' }))),
    status: 400,
  },
  {
    name: 'an upload of a thousand parts',
    ask: upload([
      ...Array.from({ length: 1_000 }, () => ({ name: 'x-a', content: '' })),
      { name: 'f', filename: 'a.txt', content: 'x' },
    ]),
    status: 400,
    has: { error: 'An upload has at most 16 parts.' },
  },
  {
    name: 'an upload of sixteen parts',
    ask: upload([
      ...Array.from({ length: 15 }, () => ({ name: 'x-a', content: '' })),
      { name: 'f', filename: 'a.txt', content: 'x' },
    ]),
    has: { decision: 'allow' },
  },
  {
    name: 'an upload with a field that nobody knows',
    ask: upload([
      { name: 'note', content: 'x' },
      { name: 'f', filename: 'a.txt', content: 'x' },
    ]),
    status: 400,
    has: { code: 'invalid_request' },
  },
  { name: 'an upload without a file', ask: upload([{ name: 'f', content: 'x' }]), status: 400 },
  { name: 'no file at all', ask: scanFile({ name: 'a.txt' }), status: 400 },
  { name: 'two sources of a file', ask: scanFile({ content: 'a', path: 'notes.txt' }), status: 400 },
];

test('files: sent, uploaded, or of the server', () =>
  runScenarios({ options: { file_roots: [roots] }, scenarios }));

test('without roots no file of the server is read', () =>
  runScenarios({
    options: {},
    scenarios: [
      {
        name: 'a path',
        ask: scanFile({ path: join(roots, 'notes.txt') }),
        status: 403,
        has: { code: 'forbidden' },
      },
      {
        name: 'a file that is sent',
        ask: scanFile({ content: 'hello' }),
        has: { decision: 'allow', mode: 'text' },
      },
    ],
  }));
