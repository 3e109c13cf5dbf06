import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../types/index.ts';
import { decodeLeaf, isEscapedJson, mapLeafOffsets, type SourceLeaf, scanJson } from './scan-json.ts';
import { walkJson } from './walk.ts';

const LIMITS = { depth_max: 1000, nodes_max: 100_000 };
/** A value without numbers that change when they are serialized (`-0`). */
const anyJson = fc
  .jsonValue({ maxDepth: 4, stringUnit: 'binary' })
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);

function read(source: string): readonly SourceLeaf[] {
  const leaves: SourceLeaf[] = [];
  assert.equal(
    scanJson(source, LIMITS, (leaf) => leaves.push({ ...leaf })),
    'read',
    source,
  );
  return leaves;
}

function getText(source: string, leaf: SourceLeaf): string {
  return leaf.has_escapes ? decodeLeaf(source, leaf) : source.slice(leaf.start, leaf.end);
}

test('the leaves of a document are those of its value, in the same order', () => {
  fc.assert(
    fc.property(anyJson, fc.constantFrom(undefined, 2), (value, indent) => {
      const source = JSON.stringify(value, null, indent);
      const expected: string[] = [];
      walkJson(value, LIMITS, ({ kind, text, is_member }) => expected.push(`${kind} ${is_member} ${text}`));
      const leaves = read(source).map((leaf) => `${leaf.kind} ${leaf.is_member} ${getText(source, leaf)}`);
      assert.deepEqual(leaves, expected);
    }),
  );
});

test('a text is a document where JSON.parse says so, and nowhere else', () => {
  const noise = fc.array(
    fc.constantFrom(...'{}[]:,"\\ntu01-.eE \n', 'true', 'null', '"a"', '{"a":', '\\u00e9'),
    { maxLength: 12 },
  );
  const broken = fc
    .tuple(anyJson, fc.nat(200), fc.constantFrom('', ',', '"', '}', ']', '\\', '\u0001'))
    .map(([value, at, put]) => {
      const source = JSON.stringify(value);
      return source.slice(0, at) + put + source.slice(at + 1);
    });
  let documents = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        noise.map((parts) => parts.join('')),
        broken,
      ),
      (source) => {
        const isDocument = canParse(source);
        documents += Number(isDocument);
        assert.equal(
          scanJson(source, LIMITS, () => {}),
          isDocument ? 'read' : 'malformed',
          source,
        );
      },
    ),
    { numRuns: 2000 },
  );
  assert.ok(documents > 50, `${documents} documents`);
});

function canParse(source: string): boolean {
  try {
    JSON.parse(source);
    return true;
  } catch {
    return false;
  }
}

test('every unit of an unescaped string knows its place in the source', () => {
  const source = String.raw`{"a\tb":"x\u0041\"\\é\ud83d"}`;
  const [key, value] = read(source);
  assert.equal(decodeLeaf(source, key!), 'a\tb');
  const offsets = mapLeafOffsets(source, value!);
  assert.equal(decodeLeaf(source, value!), 'xA"\\é\ud83d');
  const pieces = [...offsets.subarray(0, -1)].map((from, at) => source.slice(from, offsets[at + 1]));
  assert.deepEqual(pieces, ['x', '\\u0041', '\\"', '\\\\', 'é', '\\ud83d']);
});

test('exceeded limits are named, and no depth exhausts the stack', () => {
  const none = (): void => {};
  assert.equal(scanJson('['.repeat(100_000), LIMITS, none), 'depth_max');
  assert.equal(scanJson('[[1]]', { depth_max: 1, nodes_max: 9 }, none), 'depth_max');
  assert.equal(scanJson('[1,2,3]', { depth_max: 9, nodes_max: 2 }, none), 'nodes_max');
  const deep = 200_000;
  const source = `${'['.repeat(deep)}7${']'.repeat(deep)}`;
  assert.equal(scanJson(source, { depth_max: deep, nodes_max: 9 }, none), 'read');
});

test('only documents with escapes have to be read as such', () => {
  for (const text of ['{"a":"\\n"}', ' ["\\u0041"]', '"\\""']) assert.ok(isEscapedJson(text), text);
  for (const text of ['{"a":"b"}', 'C:\\temp', '', '\\n', 'x {"a":"\\n"}'])
    assert.ok(!isEscapedJson(text), text);
});
