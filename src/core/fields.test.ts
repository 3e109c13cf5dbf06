import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldTree, keepFields } from './fields.ts';
import type { Json } from './types.ts';

test('named fields stay, all others go', () => {
  const cases: [string[], Json, Json, string[]][] = [
    [['a'], { a: 1, b: 2 }, { a: 1 }, ['$.b']],
    [['a'], { a: { b: 1 } }, { a: { b: 1 } }, []],
    [['a.b'], { a: { b: 1, c: 2 } }, { a: { b: 1 } }, ['$.a.c']],
    [['a', 'a.b'], { a: { b: 1, c: 2 } }, { a: { b: 1, c: 2 } }, []],
    [['a.b', 'a'], { a: { b: 1, c: 2 } }, { a: { b: 1, c: 2 } }, []],
    [['a.b', 'a.c'], { a: { b: 1, c: 2, d: 3 } }, { a: { b: 1, c: 2 } }, ['$.a.d']],
    [['a.b'], { a: [{ b: 1, c: 2 }, null] }, { a: [{ b: 1 }, null] }, ['$.a[0].c']],
    [['a.b'], { a: 'text' }, { a: null }, ['$.a']],
    [['a'], [{ a: 1 }, { b: 1 }], [{ a: 1 }, {}], ['$[1].b']],
    [['a'], null, null, []],
    [['a'], JSON.parse('{"__proto__":{"x":1},"a":1}'), { a: 1 }, ['$.__proto__']],
    [['a'], { 'odd key': 1 }, {}, ["$['odd key']"]],
  ];
  for (const [paths, value, kept, stripped] of cases) {
    assert.deepEqual(
      keepFields(value, fieldTree(paths), (key) => key),
      { value: kept, stripped },
      paths.join(),
    );
  }
  assert.equal(cases.length, 12);
});
