import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Finding, Json } from '../types/index.ts';
import { buildLeafSplices, getContentSource, spliceSource } from './source.ts';
import { collectLeafTexts, walkJson } from './walk.ts';

const LIMITS = { depth_max: 100, nodes_max: 1000 };

function replaceLeaves(value: Json, texts: ReadonlyMap<number, string>): Json {
  const source = getContentSource({ kind: 'json', value });
  return spliceSource(source, buildLeafSplices(source.root, texts)).value;
}

function nestValue(depth: number): Json {
  let value: Json = 'innermost';
  for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { a: value };
  return value;
}

function buildTestFinding(leaf: number): Finding {
  const place = { start: 0, end: 1, leaf, path: null };
  return {
    rule_id: 'a.b',
    detector: 'a',
    type: 'pii_detected',
    severity: 'low',
    tags: ['personal.pii.x'],
    ...place,
  };
}

test('keys, strings and numbers are visited in document order, with their paths', () => {
  const value = { user: { 'e mail': 'x', _id$: 12.5 }, list: [true, null, ['deep', { "it's": 'y' }]] };
  const seen: string[] = [];
  const end = walkJson(value, LIMITS, ({ kind, text, index, path, is_member }) => {
    seen.push(`${index} ${kind} ${text} ${path()}${is_member ? ' member' : ''}`);
  });
  assert.equal(end, null);
  assert.deepEqual(seen, [
    '0 key user $.user',
    "1 key e mail $.user['e mail']",
    "2 string x $.user['e mail'] member",
    '3 key _id$ $.user._id$',
    '4 number 12.5 $.user._id$ member',
    '5 key list $.list',
    '6 string deep $.list[2][0]',
    "7 key it's $.list[2][1]['it\\'s']",
    "8 string y $.list[2][1]['it\\'s'] member",
  ]);
});

test('a hidden key occurs in no path, and the next key is not hidden', () => {
  const paths: string[] = [];
  walkJson({ found: { a: 1 }, plain: 2 }, LIMITS, (leaf) => {
    if (leaf.text === 'found') leaf.hide();
    paths.push(leaf.path());
  });
  assert.deepEqual(paths, ["$['*']", "$['*'].a", "$['*'].a", '$.plain', '$.plain']);
});

test('limits end the walk with their name; the last allowed depth and number pass', () => {
  const limits = { depth_max: 3, nodes_max: 5 };
  assert.equal(
    walkJson([[[]]], limits, () => {}),
    null,
  );
  assert.equal(walkJson([[[[]]]], limits, () => {})?.limit, 'depth_max');
  assert.equal(
    walkJson([1, 2, 3, 4], limits, () => {}),
    null,
  );
  assert.equal(walkJson([1, 2, 3, 4, 5], limits, () => {})?.limit, 'nodes_max');
  assert.match(walkJson({ a: 1, b: 2, c: 3 }, limits, () => {})!.reason, /scan\.nodes_max \(5\)/);
});

test('ten thousand levels are walked and rebuilt without recursion', () => {
  const value = nestValue(10_000);
  assert.equal(
    walkJson(value, { depth_max: 10_000, nodes_max: 100_000 }, () => {}),
    null,
  );
  assert.equal(walkJson(value, LIMITS, () => {})?.limit, 'depth_max');
  const last = 5_000;
  assert.deepEqual(
    [...collectLeafTexts({ kind: 'json', value }, [buildTestFinding(last)]).values()],
    ['innermost'],
  );
  const changed = replaceLeaves(value, new Map([[last, 'new']]));
  assert.deepEqual(
    [...collectLeafTexts({ kind: 'json', value: changed }, [buildTestFinding(last)]).values()],
    ['new'],
  );
});

test('only the given leaves change', () => {
  const kept = { a: [1, 'x'] };
  const value = { kept, number: 42, list: ['y', 'z'] };
  const changed = replaceLeaves(
    value,
    new Map([
      [5, 'FORTY'],
      [8, 'Z'],
    ]),
  );
  assert.deepEqual(changed, { kept, number: 'FORTY', list: ['y', 'Z'] });
  assert.deepEqual(replaceLeaves(value, new Map()), value);
});

test('renamed keys that are taken get a number, in order, and __proto__ stays a member', () => {
  const value = JSON.parse('{"M_2":0,"a":1,"b":2,"__proto__":{"c":3}}') as Json;
  const changed = replaceLeaves(
    value,
    new Map([
      [2, 'M'],
      [4, 'M'],
      [7, 'M'],
    ]),
  );
  assert.equal(JSON.stringify(changed), '{"M_2":0,"M":1,"M_3":2,"__proto__":{"M":3}}');
  assert.equal(JSON.stringify(replaceLeaves({ a: 1 }, new Map([[0, '__proto__']]))), '{"__proto__":1}');
});

test('many collisions stay linear', () => {
  const value = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, null]));
  const changed = replaceLeaves(value, new Map(Array.from({ length: 20_000 }, (_, index) => [index, 'M'])));
  assert.equal(Object.keys(changed as object).length, 20_000);
});

test('replacing every leaf by itself gives an equal value', () => {
  const anyJson = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
  fc.assert(
    fc.property(anyJson, (value) => {
      const texts = new Map<number, string>();
      walkJson(value, LIMITS, ({ kind, index, text }) => {
        if (kind !== 'number') texts.set(index, text);
      });
      assert.deepEqual(replaceLeaves(value, texts), value);
    }),
  );
});

test('a long path is cut, so that many findings below one do not fill the answer', () => {
  let value: Json = 'leaf';
  for (let depth = 0; depth < 60; depth++) value = { [`${'k'.repeat(95)}`]: value };
  const paths: string[] = [];
  walkJson(value, LIMITS, (leaf) => paths.push(leaf.path()));
  assert.ok(paths.every((path) => path.length < 700));
  assert.match(paths.at(-1)!, /^\$(?:\.k{95})+\.\.\.$/);
  assert.equal(paths[0], `$.${'k'.repeat(95)}`);
});
