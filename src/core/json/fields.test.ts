import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../types/index.ts';
import type { JsonNode } from '../types/json.ts';
import { buildFieldTree, keepFields } from './fields.ts';
import { parseJsonTree } from './json-tree.ts';
import { getContentSource, spliceSource } from './source.ts';

test('named fields stay, all others go', () => {
  const cases: [string[], Json, Json, string[]][] = [
    [['a'], { a: 1, b: 2 }, { a: 1 }, ['b']],
    [['a'], { a: { b: 1 } }, { a: { b: 1 } }, []],
    [['a.b'], { a: { b: 1, c: 2 } }, { a: { b: 1 } }, ['a.c']],
    [['a', 'a.b'], { a: { b: 1, c: 2 } }, { a: { b: 1, c: 2 } }, []],
    [['a.b', 'a'], { a: { b: 1, c: 2 } }, { a: { b: 1, c: 2 } }, []],
    [['a.b', 'a.c'], { a: { b: 1, c: 2, d: 3 } }, { a: { b: 1, c: 2 } }, ['a.d']],
    [['a.b'], { a: [{ b: 1, c: 2 }, null] }, { a: [{ b: 1 }, null] }, ['a.c']],
    [['a.b'], { a: 'text' }, { a: null }, ['a']],
    [['a'], [{ a: 1 }, { b: 1 }], [{ a: 1 }, {}], ['b']],
    [['a'], null, null, []],
    [['a'], JSON.parse('{"__proto__":{"x":1},"a":1}'), { a: 1 }, ['__proto__']],
    [['a'], { 'odd key': 1 }, {}, ['odd key']],
  ];
  for (const [paths, value, kept, stripped] of cases) {
    const source = getContentSource({ kind: 'json', value });
    const { splices, stripped_fields: names } = keepFields(source.root, buildFieldTree(paths), (key) => key);
    assert.deepEqual(
      { value: spliceSource(source, splices).value, stripped: names },
      { value: kept, stripped },
      paths.join(),
    );
  }
  assert.equal(cases.length, 12);
});

test('what stays is copied as it is written, with the commas that belong to it', () => {
  const cases: [string, string][] = [
    ['{ "x": 1, "a": 1.0, "y": 2 }', '{ "a": 1.0 }'],
    ['{"a":1e3,"x":1,"y":2}', '{"a":1e3}'],
    ['{"x":1,"y":2,"a":1234567890123456789}', '{"a":1234567890123456789}'],
    ['{"x":1 , "y":2}', '{}'],
    ['[{"10":1,"a":[1.50],"9":2}]', '[{"a":[1.50]}]'],
    ['{"a":1,"x":0,"a":2.0}', '{"a":1,"a":2.0}'],
  ];
  for (const [text, kept] of cases) {
    const root = parseJsonTree(text, { depth_max: 10, nodes_max: 100 }) as JsonNode;
    const { splices } = keepFields(root, buildFieldTree(['a']), (key) => key);
    assert.equal(spliceSource({ text, root }, splices).source?.text, kept);
  }
  assert.equal(cases.length, 6);
});
