/** The program answers what `data` says. A changed line there is a changed answer, which the commit names. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { factFiles } from './facts.ts';
import { formatJsonLines } from './json-lines.ts';
import { compareWithData, getDataPath, listDeviations } from './lines.ts';

for (const { name, collect, explainMissing } of factFiles) {
  test(`${name} is unchanged`, { skip: explainMissing?.() ?? false }, async () => {
    assert.deepEqual(compareWithData(name, await collect()), []);
  });
}

test('tests compare every data file', () => {
  const elsewhere = ['access.txt', 'journal.txt', 'metrics.txt', 'replies.txt'];
  const compared = [...factFiles.map(({ name }) => name), ...elsewhere].sort();
  assert.deepEqual(readdirSync(getDataPath('')).sort(), compared);
});

test('one changed fact is named', async () => {
  const { name, collect } = factFiles.find((each) => each.name === 'lists.txt')!;
  const text = await collect();
  const [, gone, added] = compareWithData(
    name,
    text.replace('error code forbidden 403', 'error code forbidden 404'),
  );
  assert.deepEqual([gone, added], ['- error code forbidden 403', '+ error code forbidden 404']);
  assert.match(compareWithData('no-such-file.txt', 'a\n')[1]!, /^\+ a$/);
});

test('deviations name changed, new and missing values', () => {
  const usual = { action: 'allow', tags: [], metadata: { phase: 'request' } };
  assert.deepEqual(listDeviations({ action: 'block', tags: ['a'], metadata: {} }, usual), [
    'action "block"',
    'metadata {}',
    'tags[0] "a"',
    'metadata.phase absent',
    'tags absent',
  ]);
  assert.deepEqual(listDeviations(usual, usual), []);
});

test('repeated parts of JSON are written once', () => {
  const long = { text: 'a'.repeat(150) };
  assert.match(formatJsonLines({ one: long, two: long }), /"two": \{"same":"one"\}/);
});
