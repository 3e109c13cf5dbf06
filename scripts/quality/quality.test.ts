/** Checks that no figure is lower than the baseline, in any folder of the checkout. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { buildTestPolicy } from '../../src/core/testing/policies.ts';
import { CATEGORIES, type CorpusRow } from '../../src/features/quality/index.ts';
import { type BaselineFigures, type Counts, describeRegressions, readBaseline } from './baseline.ts';
import { loadDefaultPolicy, measureCorpus, measureOwn } from './measure.ts';
import { own } from './own/index.ts';

const ROWS_MIN = 150;

test('the rows of the repository are many, unlike, and of both kinds', () => {
  for (const category of CATEGORIES) {
    const rows: readonly CorpusRow[] = own[category];
    assert.ok(rows.length >= ROWS_MIN, category);
    const benign = rows.filter(({ label }) => label === 'benign').length;
    assert.ok(benign >= ROWS_MIN / 3 && rows.length - benign >= ROWS_MIN / 3, category);
    assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length);
    assert.ok(new Set(rows.map(({ text }) => text)).size >= ROWS_MIN, category);
  }
});

test('no figure on them is lower than the baseline', async () => {
  const policy = await loadDefaultPolicy();
  const baseline = readBaseline().own;
  for (const category of CATEGORIES) {
    const { reached } = await measureOwn(category, policy);
    assert.deepEqual(
      describeRegressions(category, baseline[category], reached),
      [],
      'npm run quality -- --set own shows the rows',
    );
  }
});

test('the figures do not depend on the folder of the checkout', async () => {
  const { guarded_paths } = (await loadDefaultPolicy()).detection;
  assert.ok(guarded_paths !== undefined && guarded_paths.files.length > 0);
  assert.notEqual(guarded_paths.home, homedir());
  const folder = join(import.meta.dirname, '../..');
  assert.ok(!JSON.stringify(guarded_paths).includes(folder), `${folder} is guarded`);
});

test('the baseline finds a service that scans nothing worse in every category', async () => {
  const policy = buildTestPolicy({
    settings: { limits: { text_bytes_max: 1, depth_max: 9, nodes_max: 9, findings_max: 9 } },
  });
  for (const category of CATEGORIES) {
    const { reached } = await measureOwn(category, policy);
    const sentences = describeRegressions(category, readBaseline().own[category], reached);
    assert.ok(
      sentences.some((sentence) => /, all: 0 found instead of \d+/.test(sentence)),
      category,
    );
  }
});

const BEFORE: BaselineFigures = {
  rows: 'x',
  type_accuracy: 0.9,
  partial: 1,
  groups: { all: [10, 8, 10, 1], 'source a': [5, 4, 0, 0] },
};

const COMPARED: readonly (readonly [
  name: string,
  now: Partial<BaselineFigures> & { all?: Counts; source?: Counts },
  number,
])[] = [
  ['the same', {}, 0],
  ['better', { all: [10, 9, 10, 0] }, 0],
  ['fewer found', { all: [10, 7, 10, 1] }, 1],
  ['more false alarms', { all: [10, 8, 10, 2] }, 1],
  ['both', { all: [10, 7, 10, 2] }, 2],
  ['one source for another', { source: [5, 3, 0, 0] }, 1],
  ['other rows', { rows: 'y' }, 1],
  ['types that are wrong', { type_accuracy: 0.8 }, 1],
  ['more rows that are not looked at to their end', { partial: 2 }, 1],
];

test('a lower figure in any group is named, and a higher one is not', () => {
  for (const [name, { all, source, ...others }, count] of COMPARED) {
    const groups = { all: all ?? BEFORE.groups.all!, 'source a': source ?? BEFORE.groups['source a']! };
    assert.equal(describeRegressions('x', BEFORE, { ...BEFORE, groups, ...others }).length, count, name);
  }
  assert.equal(
    describeRegressions('x', BEFORE, { ...BEFORE, groups: { all: [10, 8, 10, 1] } }).length,
    2,
    'a group that is gone',
  );
  assert.equal(describeRegressions('x', undefined, BEFORE).length, 1);
});

test('a corpus can bring its own scorer', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quality-'));
  try {
    const rows = [
      { id: 'a', source: 's', text: 'rm -rf /', label: 'attack' },
      { id: 'b', source: 's', text: 'ls', label: 'benign' },
    ];
    writeFileSync(
      join(folder, 'commands.dev.jsonl.gz'),
      gzipSync(rows.map((row) => JSON.stringify(row)).join('\n')),
    );
    const measure = async (head: object, line: string) => {
      const program = `console.log(${JSON.stringify(JSON.stringify(head))});\nconsole.log(${JSON.stringify(line)});`;
      writeFileSync(join(folder, 'score.mjs'), program);
      return (await measureCorpus(folder, 'commands', buildTestPolicy(), join(folder, 'out.jsonl')))
        .differences;
    };
    const head = { missing: 0, positives: 1, negatives: 1, recall: 1, false_alarm_rate: 0, precision: 1 };
    assert.deepEqual(await measure(head, '  source s: recall 1 of 1, false alarms 0 of 1'), []);
    assert.equal((await measure(head, '  source s: recall 0 of 1, false alarms 0 of 1')).length, 1);
    assert.equal(
      (await measure({ ...head, recall: 0.5 }, '  all: recall 1 of 1, false alarms 0 of 1')).length,
      1,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
