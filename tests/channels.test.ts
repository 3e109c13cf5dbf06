/** The page of channels has a row, with a framing and a test, for every module that writes to the outside. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { alertChannelDrivers } from '../src/drivers/alerts/index.ts';
import { operations } from '../src/server/operations.ts';
import { root } from './support/checkout.ts';

interface ChannelRow {
  readonly channel: string;
  readonly framing: string;
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

const page = readFileSync(join(root, 'docs/reference/channels.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Channel '))
  .map((line): ChannelRow => {
    const [channel = '', framing = '', sources = '', tests = ''] = line.slice(2, -2).split(' | ');
    return { channel, framing, sources: listCode(sources), tests: listCode(tests) };
  });

function listCode(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
}

const isTest = (path: string) => path.endsWith('.test.ts') || path.includes('/testing/');
const listFiles = (pattern: string) => globSync(pattern, { cwd: root }).filter((path) => !isTest(path));

test('every channel has a framing, a source and a test that exist', () => {
  for (const { channel, framing, sources, tests } of rows) {
    assert.ok(framing.length > 10, channel);
    for (const source of sources) assert.ok(listFiles(source).length > 0, `${channel}: ${source}`);
    for (const path of tests) assert.ok(path.endsWith('.test.ts') && existsSync(join(root, path)), path);
    assert.ok(sources.length > 0 && tests.length > 0, channel);
  }
  assert.ok(rows.length >= 35, `${rows.length}`);
});

/** The calls and modules with which a file writes to the outside. */
const WRITES = new RegExp(
  [
    "from 'node:(?:child_process|dgram|http|https|net|tls|worker_threads)'",
    String.raw`(?:from|import\() ?'(?:nodemailer|openid-client|pg|pino|undici|ws)'`,
    String.raw`\b(?:appendFile|createWriteStream|openSegment|rename|symlink|writeFile)(?:Sync)?\(`,
    String.raw`\b(?:appendOwnFileSync|writeFileDurably|writePrivateFile|writeSpool)\(`,
    String.raw`\bprocess\.(?:send|stderr|stdout)\b|\bwriteHead\(|header\('content-type'|\.postMessage\(`,
  ].join('|'),
);

/** Modules that match and write no content to the outside. */
const NO_CHANNELS = [
  // Reads the address of a peer.
  'src/runtime/access/peer.ts',
  // Asks whether optional packages are there.
  'src/runtime/config/requirements.ts',
];

test('a module that writes to the outside has a row', () => {
  const covered = new Set(rows.flatMap(({ sources }) => sources.flatMap(listFiles)));
  const writing = listFiles('src/**/*.ts').filter((path) =>
    WRITES.test(readFileSync(join(root, path), 'utf8')),
  );
  assert.ok(writing.length > 80, `${writing.length}`);
  assert.deepEqual(
    writing.filter((path) => !covered.has(path) && !NO_CHANNELS.includes(path)),
    [],
  );
  assert.deepEqual(
    NO_CHANNELS.filter((path) => !writing.includes(path) || covered.has(path)),
    [],
  );
});

test('every alert channel and every answer that is not JSON has a row', () => {
  const named = rows.map(({ channel }) => channel).join('\n');
  const names = alertChannelDrivers.map(({ name }) => `\`${name}\``);
  const paths = operations.flatMap(({ http }) => (http?.produces === undefined ? [] : [http.path]));
  assert.ok(names.length >= 8 && paths.length >= 1);
  assert.deepEqual(
    [...names, ...paths].filter((name) => !named.includes(name)),
    [],
  );
});
