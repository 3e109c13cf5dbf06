import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allDetectors } from '../detectors/all.ts';
import { getNumberCheck, NUMBER_CHECKS } from './number-checks.ts';

/** Returns the numbers of a detector's hits, in capitals and without separators. */
function listValid(id: string): readonly string[] {
  const detectors = allDetectors.filter((each) => each.id === id || each.id === `${id}_beside_its_name`);
  const marked = detectors.flatMap(({ examples }) => examples.hits.join(' ').match(/«[^»]+»/g) ?? []);
  return [
    ...new Set(
      marked.map((value) =>
        value
          .slice(1, -1)
          .toUpperCase()
          .replace(/[ ./-]/g, ''),
      ),
    ),
  ];
}

test('every row belongs to a detector and accepts the numbers of its examples', () => {
  let accepted = 0;
  for (const id of Object.keys(NUMBER_CHECKS)) {
    const check = getNumberCheck(id)!;
    const valid = listValid(id);
    assert.ok(valid.length > 0, `${id} has no detector`);
    for (const code of valid) assert.ok(check(code), `${id}: ${code}`);
    accepted += valid.length;
  }
  assert.ok(accepted >= 100, `${accepted}`);
});

test('every row rejects most numbers with one changed digit, and numbers of equal digits', () => {
  let rows = 0;
  for (const id of Object.keys(NUMBER_CHECKS)) {
    const check = getNumberCheck(id)!;
    const changed = listValid(id).flatMap((code) =>
      [...code].flatMap((char, at) =>
        /\d/.test(char) ? [`${code.slice(0, at)}${(Number(char) + 1) % 10}${code.slice(at + 1)}`] : [],
      ),
    );
    const wrong = changed.filter((code) => !check(code)).length;
    assert.ok(wrong / changed.length >= 0.5, `${id}: ${wrong} of ${changed.length}`);
    for (const digit of '0123456789') assert.ok(!check(digit.repeat(listValid(id)[0]!.length)), id);
    rows += 1;
  }
  assert.ok(rows >= 90, `${rows} rows`);
});

test('an id without a row has no check', () => {
  assert.equal(getNumberCheck('any.passport'), null);
  assert.equal(getNumberCheck('constructor'), null);
});
