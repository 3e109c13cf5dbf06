import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeScript } from '../judge.ts';
import { commandRules } from './index.ts';

function getIds(text: string): readonly string[] {
  return judgeScript(text).matches.map(({ rule }) => rule.id);
}

test('every rule sees its hits and none of its misses', () => {
  const wrong: string[] = [];
  let count = 0;
  for (const { id, hits, misses } of commandRules) {
    assert.ok(hits.length > 0 && misses.length > 0, id);
    for (const text of hits)
      if (!getIds(text).includes(id)) wrong.push(`${id} does not see ${text}: ${getIds(text)}`);
    for (const text of misses) if (getIds(text).includes(id)) wrong.push(`${id} sees ${text}`);
    count += hits.length + misses.length;
  }
  assert.deepEqual(wrong, []);
  assert.ok(count > 500, `${count} examples`);
});

test('what a rule says to do instead is not found itself', () => {
  const wrong = commandRules.filter(({ safer }) => safer === '' || getIds(safer).length > 0);
  assert.deepEqual(
    wrong.map(({ id, safer }) => `${id}: ${safer}: ${getIds(safer)}`),
    [],
  );
  assert.ok(commandRules.length > 90, `${commandRules.length} rules`);
});

test('every rule has an id of its own, a tag of the family and a sentence', () => {
  assert.equal(new Set(commandRules.map(({ id }) => id)).size, commandRules.length);
  for (const { id, tag, description } of commandRules) {
    assert.match(id, /^[a-z_]+\.[a-z_]+$/);
    assert.match(tag, /^dangerous\.[a-z_]+$/);
    assert.match(description, /[.]$/, id);
  }
});
