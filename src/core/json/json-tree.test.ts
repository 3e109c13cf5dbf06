import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonNode } from '../types/json.ts';
import { parseJsonTree } from './json-tree.ts';

const LIMITS = { depth_max: 100, nodes_max: 100_000 };

function toPlainValue(node: JsonNode): unknown {
  if (node.kind === 'object') {
    const value: Record<string, unknown> = {};
    for (const each of node.members) {
      Object.defineProperty(value, each.key.value, {
        value: toPlainValue(each.value),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return value;
  }
  if (node.kind === 'array') return node.items.map(toPlainValue);
  if (node.kind === 'string' || node.kind === 'number') return node.value;
  return node.kind === 'null' ? null : node.kind === 'true';
}

function listNodes(node: JsonNode): JsonNode[] {
  const inner =
    node.kind === 'object'
      ? node.members.flatMap((each) => [each.key, ...listNodes(each.value)])
      : node.kind === 'array'
        ? node.items.flatMap(listNodes)
        : [];
  return [node, ...inner];
}

function read(text: string): JsonNode {
  const node = parseJsonTree(text, LIMITS);
  assert.notEqual(node.kind, 'problem', text);
  return node as JsonNode;
}

test('reads what JSON.parse reads, and every place holds its value', () => {
  let cases = 0;
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary', maxDepth: 6 }), fc.constantFrom(0, 1, 3), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), null, indent);
      const node = read(text);
      assert.deepEqual(toPlainValue(node), JSON.parse(text));
      for (const each of listNodes(node)) {
        assert.deepEqual(toPlainValue(each), JSON.parse(text.slice(each.start, each.end)));
      }
      cases += 1;
    }),
    { numRuns: 500 },
  );
  assert.equal(cases, 500);
});

test('refuses exactly what JSON.parse refuses, at any damage of a text', () => {
  let refused = 0;
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.constantFrom(...'{}[]",:\\u0x-+.eE1 \n\ttrfn\u0001'),
      (json, place, unit) => {
        const at = place % (json.length + 1);
        const text = json.slice(0, at) + unit + json.slice(at + 1);
        const node = parseJsonTree(text, LIMITS);
        let expected: unknown;
        let isJson = true;
        try {
          expected = JSON.parse(text);
        } catch {
          isJson = false;
          refused += 1;
        }
        assert.equal(node.kind !== 'problem', isJson, JSON.stringify(text));
        if (node.kind !== 'problem') assert.deepEqual(toPlainValue(node), expected);
      },
    ),
    { numRuns: 3000 },
  );
  assert.ok(refused > 300, `only ${refused} texts were damaged`);
});

test('keeps members that come twice, in their order', () => {
  const node = read('{"a":1,"b":2,"a":"x","__proto__":null}');
  assert.equal(node.kind, 'object');
  const keys = node.kind === 'object' ? node.members.map(({ key, value }) => [key.value, value.kind]) : [];
  assert.deepEqual(keys, [
    ['a', 'number'],
    ['b', 'number'],
    ['a', 'string'],
    ['__proto__', 'null'],
  ]);
});

const PROBLEMS: readonly [text: string, reason: string, at: number][] = [
  ['', 'malformed', 0],
  ['\ufeff{}', 'malformed', 0],
  ['{"a":1', 'malformed', 6],
  ['{"a":1,}', 'malformed', 7],
  ['{"a" 1}', 'malformed', 5],
  ["{'a':1}", 'malformed', 1],
  ['[1,]', 'malformed', 3],
  ['[1 2]', 'malformed', 3],
  ['[1}', 'malformed', 2],
  ['{} x', 'malformed', 3],
  ['01', 'malformed', 1],
  ['"a\nb"', 'malformed', 2],
  ['"\\x"', 'malformed', 1],
  ['"\\u12g4"', 'malformed', 1],
  ['"abc', 'malformed', 4],
  ['NaN', 'malformed', 0],
  ['nul', 'malformed', 0],
  ['[1,2,3]', 'nodes_max', 5],
  ['{"a":{"b":{}}}', 'depth_max', 10],
];

test('says what is wrong and where, and nothing of the text', () => {
  for (const [text, reason, at] of PROBLEMS) {
    assert.deepEqual(
      parseJsonTree(text, { depth_max: 2, nodes_max: 3 + (reason === 'depth_max' ? 9 : 0) }),
      {
        kind: 'problem',
        reason,
        at,
      },
      text,
    );
  }
  assert.equal(PROBLEMS.length, 19);
});

test('vectors may be read without being kept or counted', () => {
  const vector = JSON.stringify(Array.from({ length: 5000 }, (_, at) => (at - 2500) / 3));
  const text = `{"data":[{"embedding":${vector}},{"embedding":[1,"a text",[2],{"index":3}]}]}`;
  const limits = { depth_max: 10, nodes_max: 20 };
  assert.equal(parseJsonTree(text, limits).kind, 'problem');
  const node = parseJsonTree(text, limits, { drops_vectors: true });
  assert.notEqual(node.kind, 'problem');
  assert.deepEqual(toPlainValue(node as JsonNode), {
    data: [{ embedding: [] }, { embedding: ['a text', [], { index: 3 }] }],
  });
  for (const faulty of ['[1,]', '[1 2]', '[01]', '[1,2']) {
    assert.equal(parseJsonTree(faulty, limits, { drops_vectors: true }).kind, 'problem', faulty);
  }
  const texts = `[${'"a",'.repeat(20)}1]`;
  assert.equal(parseJsonTree(texts, limits, { drops_vectors: true }).kind, 'problem');
});

test('nesting of a hundred thousand levels is a limit and no fault', () => {
  for (const opening of ['[', '{"a":']) {
    const text = opening.repeat(100_000);
    assert.deepEqual(parseJsonTree(text, { depth_max: 10_000, nodes_max: 1_000_000 }), {
      kind: 'problem',
      reason: 'depth_max',
      at: 10_000 * opening.length,
    });
  }
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
  assert.equal(parseJsonTree(deep, { depth_max: 10_000, nodes_max: 1_000_000 }).kind, 'array');
});
