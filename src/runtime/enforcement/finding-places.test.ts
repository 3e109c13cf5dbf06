import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFindingPlace, parseFindingPlaces } from './finding-places.ts';

const PLACE = { rule_id: 'openai.api_key', text_index: 2, start: 0, end: 51, fingerprint: 'sealed:a/b+c=' };

test('a finding place is read as it was written', () => {
  assert.deepEqual(parseFindingPlaces([formatFindingPlace(PLACE)]), [PLACE]);
});

test('entries of another form keep their index and are not read', () => {
  const entries = ['', 'a 1 2', 'a 1 2 3', 'a 1 2 x -', 'a -1 2 3 -', 'a 1 2 3 - x', 7, null];
  assert.deepEqual(parseFindingPlaces([...entries, formatFindingPlace(PLACE)]), [
    ...entries.map(() => null),
    PLACE,
  ]);
  for (const other of [undefined, null, 'a 1 2 3 -', {}]) assert.deepEqual(parseFindingPlaces(other), []);
});
