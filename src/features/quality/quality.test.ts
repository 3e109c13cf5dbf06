import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { allDetectors } from '../../core/detect/detectors/all.ts';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import type { Category } from './category.ts';
import { CORPUS_LIMITS, type CorpusError, type CorpusRow, readCorpus } from './corpus.ts';
import { computeRates, countRow, createFigures } from './figures.ts';
import { isLabelNoise, measureSequence, SEQUENCE_SHARE_MAX } from './label-noise.ts';
import { measureRows } from './measure.ts';
import { isTypeCorrect, KIND_FAMILIES, TYPE_PATTERNS } from './type-patterns.ts';

const dir = mkdtempSync(join(tmpdir(), 'quality-'));
after(() => rmSync(dir, { recursive: true }));

const GOOD = '{"id":"a","text":"hello","label":"benign"}';
const SECRET = ['sk-', 'ABCDEF1234567890'].join('');

async function collectRows(rows: AsyncIterable<CorpusRow>): Promise<readonly CorpusRow[]> {
  const list: CorpusRow[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

async function read(content: string | Buffer, category: Category = 'secrets', name = 'rows.jsonl') {
  const path = join(dir, name);
  writeFileSync(path, content);
  return collectRows(readCorpus(path, name, category));
}

const REFUSED: readonly (readonly [
  line: number,
  message: RegExp,
  content: string | Buffer,
  category?: Category,
])[] = [
  [2, /not one JSON value/, `${GOOD}\n{"id":"b","text":"${SECRET}`],
  [1, /not one JSON value/, Buffer.from([0x7b, 0xff, 0x7d])],
  [1, /not a JSON object/, '[1]'],
  [1, /not a JSON object/, 'null'],
  [1, /`text` must be a string/, '{"id":"a","label":"benign"}'],
  [1, /`id` must be/, '{"text":"a","label":"benign"}'],
  [1, /`id` must be/, '{"id":"","text":"a","label":"benign"}'],
  [1, /`id` must be/, '{"id":7,"text":"a","label":"benign"}'],
  [1, /`label` must be `secret` or `benign`/, '{"id":"a","text":"a","label":"attack"}'],
  [1, /`label` must be `attack` or `benign`/, '{"id":"a","text":"a","label":"secret"}', 'injection'],
  [3, /already on an earlier line/, `${GOOD}\n\n${GOOD}`],
  [1, /`labels` must be a list/, '{"id":"a","text":"a","label":"secret","labels":{}}'],
  [
    1,
    /`labels\[0\]` must have `start` and `end` within/,
    '{"id":"a","text":"ab","label":"secret","labels":[{"start":0,"end":3,"type":"x"}]}',
  ],
  [
    1,
    /`labels\[1\]`/,
    '{"id":"a","text":"ab","label":"secret","labels":[{"start":0,"end":1,"type":"x"},{"start":1,"end":1,"type":"x"}]}',
  ],
  [1, /`labels\[0\]\.type`/, '{"id":"a","text":"ab","label":"secret","labels":[{"start":0,"end":1}]}'],
  [1, /`labels\[0\]`/, '{"id":"a","text":"ab","label":"secret","labels":[null]}'],
  [1, /`source` must be/, '{"id":"a","text":"a","label":"benign","source":{}}'],
  [2, /over 16777216 bytes/, `${GOOD}\n{"id":"b","text":"${'x'.repeat(CORPUS_LIMITS.line_bytes_max)}"}`],
];

test('a file that is not one of labelled rows is refused with the line, and without its text', async () => {
  for (const [line, message, content, category] of REFUSED) {
    await assert.rejects(read(content, category), (error: CorpusError) => {
      assert.equal(error.name, 'CorpusError');
      assert.equal(error.details[0]?.line, line, String(message));
      assert.match(error.details[0]!.message, message);
      assert.ok(!JSON.stringify([error.message, error.details]).includes(SECRET));
      return true;
    });
  }
  await assert.rejects(read('\n \n'), /has no row/);
  await assert.rejects(read('no gzip', 'pii', 'rows.jsonl.gz'), /cannot be unpacked/);
  await assert.rejects(read(gzipSync(GOOD).subarray(0, 30), 'pii', 'rows.jsonl.gz'), /cannot be unpacked/);
  await assert.rejects(collectRows(readCorpus(join(dir, 'nothing'), 'nothing', 'pii')), {
    code: 'ENOENT',
    path: 'nothing',
  });
});

test('rows are read whatever their line ends are, packed or not', async () => {
  const long = JSON.stringify({
    id: 'c',
    text: 'ü'.repeat(300_000),
    label: 'secret',
    type: 'x',
    tier: ['list'],
  });
  const text = `${GOOD}\r\n\n${long}\n${GOOD.replace('"a"', '"d"')}`;
  const plain = await read(text);
  assert.deepEqual(
    plain.map(({ id, line }) => [id, line]),
    [
      ['a', 1],
      ['c', 3],
      ['d', 4],
    ],
  );
  assert.deepEqual([plain[1]!.tier, plain[1]!.type, plain[1]!.source], [null, 'x', 'unnamed']);
  assert.deepEqual(await read(gzipSync(text), 'secrets', 'rows.jsonl.gz'), plain);
});

function getRow(parts: Partial<CorpusRow>): CorpusRow {
  return {
    line: 1,
    id: 'a',
    text: '',
    label: 'benign',
    labels: [],
    source: 's',
    type: null,
    tier: null,
    os: null,
    ...parts,
  };
}

const hit = (start: number, end: number, type = 'email.address', detector = 'email') => ({
  start,
  end,
  type,
  detector,
});
const found = (...hits: readonly ReturnType<typeof hit>[]) => ({ hits, is_partial: false });

test('a labelled row counts once, its places each, and free text only where something else is labelled', () => {
  const figures = createFigures();
  const place = { start: 5, end: 9, type: 'EMAIL' };
  const person = { start: 0, end: 4, type: 'PERSON' };
  const count = (parts: Partial<CorpusRow>, ...hits: readonly ReturnType<typeof hit>[]) =>
    countRow(figures, 'pii', getRow(parts), found(...hits));
  count({ label: 'pii', labels: [place, { ...place, start: 20, end: 25 }] }, hit(8, 12));
  count({ label: 'pii', labels: [place] }, hit(9, 12));
  count({ label: 'pii', labels: [place] }, hit(0, 6, 'ip.v4', 'ip_address'));
  // Only a name is labelled: the row counts as benign, and a hit on the name is not a false positive.
  count({ label: 'pii', labels: [person] }, hit(1, 3));
  count({ label: 'pii', labels: [person] }, hit(1, 3), hit(6, 7));
  count({ label: 'benign' }, hit(1, 3), hit(4, 5));
  count({ label: 'benign-for:EMAIL' }, hit(1, 3));
  const groups = Object.fromEntries(figures.groups);
  assert.deepEqual(groups, {
    all: { positives: 3, found: 2, negatives: 3, alarms: 2 },
    clean: { positives: 3, found: 2, negatives: 3, alarms: 2 },
    'source s': { positives: 3, found: 2, negatives: 3, alarms: 2 },
    spans: { positives: 4, found: 2, negatives: 0, alarms: 0 },
    'type EMAIL': { positives: 4, found: 2, negatives: 0, alarms: 0 },
  });
  assert.deepEqual(figures.typed, { found: 2, right: 1 });
  assert.deepEqual([figures.misses.length, figures.false_alarms.length], [1, 2]);
  assert.deepEqual(figures.false_alarms[1]!.rule_ids, ['email.address']);
});

test('a file of very many types has its figures kept in bounds', () => {
  const figures = createFigures();
  const rows = 12_000;
  for (let at = 0; at < rows; at++)
    countRow(figures, 'commands', getRow({ label: 'attack', type: `t${at}` }), found());
  assert.ok(figures.groups.size <= 10_001);
  const typed = [...figures.groups].filter(([name]) => name.startsWith('type '));
  assert.equal(
    typed.reduce((sum, [, { positives }]) => sum + positives, 0),
    rows,
  );
  assert.ok(figures.groups.get('type (others)')!.positives > 1_000);
  assert.equal(figures.misses.length, 10_000);
});

test('shares are those of the scorer: of rows, to four digits, and none of nothing', () => {
  assert.deepEqual(computeRates({ positives: 3, found: 2, negatives: 7, alarms: 1 }), {
    recall: 0.6667,
    false_alarm_rate: 0.1429,
    precision: 0.6667,
    f1: 0.6667,
  });
  assert.deepEqual(computeRates({ positives: 2, found: 0, negatives: 0, alarms: 0 }), {
    recall: 0,
    false_alarm_rate: null,
    precision: null,
    f1: 0,
  });
});

test('texts are judged at input, commands as the arguments of a tool call, and only their own findings count', async () => {
  const rows = (label: string, ...texts: string[]) =>
    texts.map((text, at) =>
      getRow({ id: String(at), label, text, labels: [{ start: 0, end: text.length, type: 'x' }] }),
    );
  const measure = (category: Category, list: readonly CorpusRow[], severityMin: 'low' | 'critical' = 'low') =>
    measureRows(list, { category, policy: buildTestPolicy(), severity_min: severityMin });
  assert.equal((await measure('commands', rows('attack', 'rm -rf /', 'ls -la'))).found, 1);
  assert.equal((await measure('secrets', rows('secret', `key ${SECRET}`, 'jane@mailbox.org'))).found, 1);
  assert.equal((await measure('pii', rows('pii', `key ${SECRET}`, 'jane@mailbox.org'))).found, 1);
  assert.equal((await measure('pii', rows('pii', 'jane@mailbox.org'), 'critical')).found, 0);
  const over = buildTestPolicy({
    settings: { limits: { text_bytes_max: 4, depth_max: 9, nodes_max: 9, findings_max: 9 } },
  });
  const cut = await measureRows(rows('pii', 'jane@mailbox.org'), {
    category: 'pii',
    policy: over,
    severity_min: 'low',
  });
  assert.deepEqual([cut.partial, cut.found], [1, 0]);
});

const TYPES: readonly (readonly [name: string, rule_id: string, detector: string, is_right: boolean])[] = [
  ['EMAIL', 'email.address', 'email', true],
  ['EMAIL', 'phone.international', 'phone', false],
  ['AR_CUIT', 'ar.cuit_beside_its_name', 'tax_id', true],
  ['AR_CUIT', 'ar.dni', 'national_id', false],
  ['UK_NHS', 'gb.nhs', 'health_id', true],
  ['BR_TAX_ID', 'br.cpf', 'national_id', true],
  ['BR_TAX_ID', 'pt.nif', 'tax_id', false],
  ['DE_PASSPORT', 'any.passport', 'passport', true],
  ['DE_PASSPORT', 'any.tax_id', 'tax_id', false],
  ['US_SSN', 'ssn.us', 'ssn', true],
  ['FR_SOMETHING_ELSE', 'fr.nir', 'national_id', true],
  ['FR_SOMETHING_ELSE', 'es.dni', 'national_id', false],
  ['NOTHING', 'no.fnr', 'national_id', false],
  ['constructor', 'no.fnr', 'national_id', false],
];

test('a type is right by its name, its kind and its country', () => {
  for (const [name, ruleId, detector, isRight] of TYPES)
    assert.equal(isTypeCorrect(name, ruleId, detector), isRight, `${name} ${ruleId}`);
});

test('the published map names rules and families that there are', () => {
  const rules = allDetectors.filter(({ tags }) => tags[0].startsWith('personal.'));
  const unknown = Object.values(TYPE_PATTERNS)
    .flat()
    .filter((pattern) => !rules.some(({ id }) => id.startsWith(pattern)));
  assert.deepEqual(unknown, []);
  const families = new Set(rules.map(({ detector }) => detector));
  for (const family of Object.values(KIND_FAMILIES).flat()) assert.ok(families.has(family), family);
});

const NOISE: readonly (readonly [category: Category, value: string, type: string, noise: boolean])[] = [
  ['secrets', '1234567890abcdefghij', 'api-key', true],
  ['secrets', 'xxxxxxxxxxxxxxxxxxxx', 'api-key', true],
  ['secrets', 'AbCdEfGhIjKlMnOpQrSt', 'api-key', true],
  ['secrets', 'q7Zk2Lw9Xc4Tn8Vb1Rm5', 'api-key', false],
  ['secrets', 'q7Zk2Lw9Xc4Tn8Vb1Rm5', 'client-id', true],
  ['secrets', 'db7.internal-host.io', 'server-host.1', true],
  ['secrets', 'q7Zk2Lw9Xc4Tn8Vb1Rm5', 'identity-token', false],
  ['pii', 'ann@example.com', 'EMAIL', true],
  ['pii', 'ann@mailbox.org', 'EMAIL', false],
  ['pii', '192.0.2.7', 'IP', true],
  ['pii', '88.0.2.7', 'IP', false],
  ['pii', 'fe80::1', 'IP', true],
  ['pii', '::ffff:10.0.0.1', 'IP', true],
  ['pii', '2606:4700:4700::1111', 'IP', false],
  ['pii', 'https://mailbox.org/', 'URL', true],
  ['pii', 'DE89370400440532013000', 'IBAN', false],
  ['pii', 'CO10BNYU3413331664075', 'IBAN', true],
  ['pii', '130692544', 'CA_SIN', true],
  ['pii', 'SIN 130692544', 'CA_SIN', false],
  ['pii', '110105194912310029', 'CN_RIC', false],
  ['pii', '111-11-1111', 'US_SSN', true],
  ['pii', '111', 'PIN', false],
  ['injection', 'aaaaaaaaaaaaaaaaaaaa', 'direct', false],
  ['commands', '12345678901234567890', 'rm', false],
];

test('label noise is read from values and types, and never from findings', () => {
  for (const [category, text, type, noise] of NOISE) {
    const labels = [{ start: 0, end: text.length, type }];
    const row = { line: 1, id: 'a', text, label: '', labels, source: 's', type: null, tier: null, os: null };
    assert.equal(isLabelNoise(category, row), noise, `${category} ${type} ${text}`);
    assert.equal(isLabelNoise(category, { ...row, labels: [] }), false, 'a row without a label');
  }
  assert.equal(NOISE.filter(([, , , noise]) => noise).length, 13);
  assert.ok(measureSequence('12345') > SEQUENCE_SHARE_MAX);
});

test('a value that occurs again without a label is noise, because either place is right', () => {
  const text = 'user:q7Zk2Lw9 password:q7Zk2Lw9';
  const first = { start: 5, end: 13, type: 'password' };
  const row = { line: 1, id: 'a', text, label: '', source: 's', type: null, tier: null, os: null };
  assert.equal(isLabelNoise('secrets', { ...row, labels: [first] }), true);
  const second = { start: 23, end: 31, type: 'password' };
  assert.equal(isLabelNoise('secrets', { ...row, labels: [first, second] }), false);
  assert.equal(isLabelNoise('pii', { ...row, labels: [first] }), false);
});

test('figures without label noise leave out placeholders on both sides', () => {
  const figures = createFigures();
  const base = { line: 1, source: 's', type: null, tier: null, os: null };
  const span = (text: string) => [{ start: 0, end: text.length, type: 'api-key' }];
  const missed = { hits: [], flagged: false, is_partial: false };
  for (const text of ['xxxxxxxxxxxxxxxx', 'q7Zk2Lw9Xc4Tn8Vb'])
    countRow(figures, 'secrets', { ...base, id: text, text, label: 'secret', labels: span(text) }, missed);
  for (const text of ['KEY=xxxxxxxxxxxxxxxx', 'KEY=1234567890', 'the key of 1234', 'q7Zk2Lw9Xc4Tn8Vb'])
    countRow(figures, 'secrets', { ...base, id: text, text, label: 'benign', labels: [] }, missed);
  const { positives, negatives } = figures.groups.get('clean')!;
  assert.deepEqual([positives, negatives], [1, 2]);
  const all = figures.groups.get('all')!;
  assert.deepEqual([all.positives, all.negatives], [2, 4]);
});
