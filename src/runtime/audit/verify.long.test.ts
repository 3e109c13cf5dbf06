import assert from 'node:assert/strict';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { loadPublicKeys, openSigningKey, rotateSigningKey } from './keys.ts';
import {
  type AuditLog,
  appendRange,
  countFiles,
  makeAuditLog,
  readFiles,
  rehashLine,
  START_MS,
  waitUntil,
  writeLines,
} from './testing/audit-log.ts';

type Files = { path: string; lines: string[] }[];

/** Makes a closed journal of several files; the old ones are compressed, the newest has several lines. */
async function makeJournal(t: TestContext): Promise<AuditLog> {
  const trail = await makeAuditLog(t, { max_size_bytes: 6_000, compress_rotated: true });
  const journal = await trail.open();
  for (let index = 0; index < 31; index++) await appendRange(journal, index, index + 1);
  await waitUntil(async () => (await countFiles(trail, 'plain')) === 1);
  await journal.close();
  return trail;
}

async function rewrite(file: Files[number], lines: readonly string[]): Promise<void> {
  if (!file.path.endsWith('.gz')) return writeLines(file.path, lines);
  await writeFile(file.path, gzipSync(lines.map((line) => `${line}\n`).join('')));
}

/** Recomputes the hashes of lines, as an attacker without the key can. */
function rechain(lines: readonly string[], previousHash: string): string[] {
  let previous = previousHash;
  return lines.map((line) => {
    const rehashed = rehashLine(line, previous);
    previous = JSON.parse(rehashed).record_hash;
    return rehashed;
  });
}

const changed = (line: string): string => line.replace('"decision":"allow"', '"decision":"block"');
const prevHash = (line: string): string => JSON.parse(line).prev_hash;

interface LineTamper {
  readonly name: string;
  /** The file to change, counted from 0; negative from the end. */
  readonly file: number;
  readonly tamper: (file: Files[number], files: Files) => Promise<void>;
  /** The expected place of the fault: file, line, and words of the reason. */
  readonly found: { file: number; line: number | null; reason: RegExp };
}

const TAMPERINGS: readonly LineTamper[] = [
  {
    name: 'one byte of an event is flipped',
    file: -1,
    tamper: (file) => rewrite(file, file.lines.with(2, changed(file.lines[2]!))),
    found: { file: -1, line: 3, reason: /hash does not fit/ },
  },
  {
    name: 'one byte in a compressed file is flipped',
    file: 1,
    tamper: (file) => rewrite(file, file.lines.with(4, changed(file.lines[4]!))),
    found: { file: 1, line: 5, reason: /hash does not fit/ },
  },
  {
    name: 'a line is deleted',
    file: 0,
    tamper: (file) => rewrite(file, file.lines.toSpliced(3, 1)),
    found: { file: 0, line: 4, reason: /number is 5/ },
  },
  {
    name: 'two lines are swapped',
    file: 1,
    tamper: (file) => rewrite(file, file.lines.with(2, file.lines[3]!).with(3, file.lines[2]!)),
    found: { file: 1, line: 3, reason: /number is/ },
  },
  {
    name: 'a line is written twice',
    file: 1,
    tamper: (file) => rewrite(file, file.lines.toSpliced(3, 0, file.lines[2]!)),
    found: { file: 1, line: 4, reason: /number is/ },
  },
  {
    name: 'a file in the middle is deleted',
    file: 2,
    tamper: (file) => rm(file.path),
    found: { file: 3, line: null, reason: /file is missing/ },
  },
  {
    name: 'the first file is deleted',
    file: 0,
    tamper: (file) => rm(file.path),
    found: { file: 1, line: null, reason: /file is missing/ },
  },
  {
    name: 'a compressed file is cut in the middle',
    file: 1,
    tamper: async (file) => writeFile(file.path, (await readFile(file.path)).subarray(0, 900)),
    found: { file: 1, line: null, reason: /cannot be read|middle of a record/ },
  },
  {
    name: 'a compressed file is replaced by another',
    file: 1,
    tamper: (file, files) => cp(files[0]!.path, file.path),
    found: { file: 1, line: 1, reason: /number is 1/ },
  },
  {
    name: 'a file is emptied',
    file: 1,
    tamper: (file) => rewrite(file, []),
    found: { file: 1, line: 1, reason: /empty/ },
  },
  {
    name: 'the end of a closed file is cut at a line',
    file: 1,
    tamper: (file) => rewrite(file, file.lines.slice(0, -2)),
    found: { file: 2, line: null, reason: /file is missing/ },
  },
  {
    name: 'an event is changed and every hash behind it made to fit: the signature tells',
    file: 0,
    tamper: (file) =>
      rewrite(file, [
        file.lines[0]!,
        ...rechain([changed(file.lines[1]!), ...file.lines.slice(2)], prevHash(file.lines[1]!)),
      ]),
    found: { file: 0, line: -1, reason: /signature/ },
  },
  {
    name: 'a checkpoint is forged with a key of one’s own',
    file: -1,
    tamper: async (file) => {
      const forged = file.lines.at(-1)!.replace(/"signature":"[^"]{20}/, `"signature":"${'A'.repeat(20)}`);
      await rewrite(file, [...file.lines.slice(0, -1), ...rechain([forged], prevHash(forged))]);
    },
    found: { file: -1, line: -1, reason: /signature/ },
  },
  {
    name: 'a checkpoint is emptied',
    file: -1,
    tamper: async (file) => {
      const emptied = file.lines.at(-1)!.replace(/"checkpoint":\{[^}]*\}/, '"checkpoint":{}');
      await rewrite(file, [...file.lines.slice(0, -1), ...rechain([emptied], prevHash(emptied))]);
    },
    found: { file: -1, line: -1, reason: /signature/ },
  },
  {
    name: 'the lines of another writer are put in',
    file: -1,
    tamper: (file) =>
      rewrite(file, [
        file.lines[0]!,
        ...rechain(
          [file.lines[1]!.replace('worker-1', 'worker-2'), ...file.lines.slice(2)],
          prevHash(file.lines[1]!),
        ),
      ]),
    found: { file: -1, line: 2, reason: /chain of `worker-2`/ },
  },
];

for (const { name, file, tamper, found } of TAMPERINGS) {
  test(`found: ${name}`, async (t) => {
    const trail = await makeJournal(t);
    const files = await readFiles(trail);
    assert.ok(files.length >= 4);
    assert.equal((await trail.verify()).intact, true);
    await tamper(files.at(file)!, files);
    const { intact, broken } = await trail.verify();
    assert.equal(intact, false);
    assert.equal(broken?.file, `worker-1/${files.at(found.file)!.path.split('/').at(-1)}`);
    assert.match(broken!.reason, found.reason);
    if (found.line !== null)
      assert.equal(broken!.line, found.line < 0 ? files.at(found.file)!.lines.length : found.line);
  });
}

test('a rewritten or shortened end behind the last checkpoint is seen only by who remembers it', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  await appendRange(journal, 0, 20);
  const { seq, record_hash } = journal.head();
  const knownHeads = new Map([['worker-1', { seq, record_hash }]]);
  const [file] = await readFiles(trail);
  const shortened = file!.lines.slice(0, -5);
  const rewritten = [
    file!.lines[0]!,
    ...rechain([changed(file!.lines[1]!), ...file!.lines.slice(2)], prevHash(file!.lines[1]!)),
  ];
  assert.equal((await trail.verify({ known_heads: knownHeads })).intact, true);
  for (const [lines, reason] of [
    [shortened, /end is missing/],
    [rewritten, /rewritten/],
  ] as const) {
    await writeLines(file!.path, lines);
    const report = await trail.verify();
    assert.deepEqual([report.intact, report.writers[0]?.unsigned_tail], [true, lines.length]);
    const remembered = await trail.verify({ known_heads: knownHeads });
    assert.match(remembered.broken!.reason, reason);
  }
  await rm(join(trail.dir, 'worker-1'), { recursive: true });
  assert.match((await trail.verify({ known_heads: knownHeads })).broken!.reason, /end is missing/);
  await writeLines(file!.path, []).catch(() => {});
});

test('the record of deleted files cannot be made up', async (t) => {
  const trail = await makeAuditLog(t, { max_size_bytes: 1_000, max_age_days: 1 });
  const journal = await trail.open();
  for (let index = 0; index < 6; index++) {
    trail.clock.now_ms = START_MS + index * 86_400_000;
    await appendRange(journal, index, index + 1);
  }
  const retired = join(trail.dir, 'worker-1', 'retired.json');
  await waitUntil(async () => (await countFiles(trail, 'plain')) < 5);
  await journal.close();
  const genuine = await readFile(retired, 'utf8');
  assert.equal((await trail.verify()).intact, true);
  for (const forged of [genuine.replace(/"last_seq":\d+/, '"last_seq":1'), '{}', 'x']) {
    await writeFile(retired, forged);
    assert.match((await trail.verify()).broken!.reason, /not signed/);
  }
  await rm(retired);
  assert.match((await trail.verify()).broken!.reason, /file is missing/);
});

test('a new key is believed because the old one endorsed it, another is not', async (t) => {
  const trail = await makeAuditLog(t);
  const keys = join(trail.state, 'keys');
  const nowMs = (): number => START_MS;
  const first = await openSigningKey({ dir: keys, now_ms: nowMs });
  await (await trail.open()).close();
  const second = await rotateSigningKey({ dir: keys, now_ms: nowMs });
  assert.notEqual(second.key_id, first.key_id);
  const journal = await trail.open();
  await appendRange(journal, 0, 3);
  await journal.close();
  assert.equal((await trail.verify({ trusted_key_id: first.key_id })).intact, true);
  assert.equal((await trail.verify({ trusted_key_id: second.key_id })).intact, false);

  const publicKeys = await loadPublicKeys(keys);
  const unendorsed = publicKeys.map((key) =>
    key.key_id === second.key_id ? { ...key, endorsement: 'AAAA' } : key,
  );
  assert.match((await trail.verify({ public_keys: unendorsed })).broken!.reason, /signature/);
  const unknown = await trail.verify({ public_keys: [] });
  assert.deepEqual([unknown.intact, unknown.broken], [false, null]);
  assert.deepEqual(unknown.missing_keys, [first.key_id, second.key_id].sort());
  const half = await trail.verify({
    public_keys: publicKeys.filter(({ key_id }) => key_id === first.key_id),
  });
  assert.deepEqual([half.broken, half.missing_keys], [null, [second.key_id]]);

  const own = await openSigningKey({ dir: join(trail.state, 'own-keys'), now_ms: nowMs });
  const withOwn = [...publicKeys, ...(await loadPublicKeys(join(trail.state, 'own-keys')))];
  const replaced = await trail.open({ signing_key: own, writer: 'worker-2' });
  await appendRange(replaced, 0, 3);
  await replaced.close();
  assert.equal((await trail.verify({ public_keys: withOwn, trusted_key_id: first.key_id })).intact, false);
  assert.match((await trail.verify({ public_keys: withOwn })).warnings[0]!, /2 keys vouch/);
});

test('several processes that start at once get one key', async (t) => {
  const trail = await makeAuditLog(t);
  const dir = join(trail.state, 'keys');
  const keys = await Promise.all(
    Array.from({ length: 8 }, () => openSigningKey({ dir, now_ms: () => START_MS })),
  );
  assert.equal(new Set(keys.map((key) => key.key_id)).size, 1);
  assert.equal((await loadPublicKeys(dir)).length, 1);
  await writeFile(join(dir, `${keys[0]!.key_id}.private.pem`), 'not a key');
  await assert.rejects(openSigningKey({ dir, now_ms: () => START_MS }), { code: 'signing_key_unusable' });
});

test('every table above ran', () => assert.equal(TAMPERINGS.length, 15));
