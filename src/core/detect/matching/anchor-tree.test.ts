import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchorTree } from '../registry/anchor-tree.ts';
import { builtinFiles } from '../registry/builtin-detectors.ts';
import { growAnchorTree } from './anchor-tree.ts';
import { parseAnchor } from './anchors.ts';
import {
  buildAnchorTree,
  collectNotations,
  compileAnchors,
  compileScanner,
  deriveScanner,
  scanText,
} from './scanner.ts';
import { isSerializedFrom, parseAnchorTree, readAnchorSet, serializeAnchorTree } from './serialized-tree.ts';
import { acceptsClass, getAnchors, getChildren } from './trie.ts';

const builtin = builtinFiles.flatMap((file) => file());
const notations = collectNotations(builtin);

test('the tree that was made ahead is the one that the anchors make', () => {
  const made = buildAnchorTree(notations);
  assert.deepEqual(parseAnchorTree(anchorTree), made);
  assert.deepEqual(serializeAnchorTree(notations, made), anchorTree);
  assert.ok(made.tree.ends.length > 5_000, `${made.tree.ends.length} anchors`);
});

test('the anchors that are read from it are walked like those that are made', () => {
  const made = compileAnchors(notations);
  const read = readAnchorSet(anchorTree);
  for (const { trie } of [read, made]) {
    for (let node = 0; node < trie.node_count; node++) {
      getChildren(trie, node);
      getAnchors(trie, node);
      for (let unitClass = 0; unitClass < trie.class_count; unitClass++) acceptsClass(trie, node, unitClass);
    }
  }
  assert.deepEqual({ ...read.trie, source: null }, { ...made.trie, source: null });
  assert.deepEqual([read.counts, read.lengths], [made.counts, made.lengths]);
  assert.deepEqual(read.tree(), made.tree());
});

test('a tree is known not to be of other anchors than its own', () => {
  const [first = [], ...othersFirst] = notations;
  const others = [
    notations.slice(1),
    [...notations, ['abc']],
    notations.toReversed(),
    [[...first, 'x'], ...othersFirst],
    [first.map((notation) => `${notation}x`), ...othersFirst],
    [[...first, ...othersFirst[0]!], ...othersFirst.slice(1)],
  ];
  assert.ok(isSerializedFrom(notations, anchorTree));
  for (const other of others) assert.equal(isSerializedFrom(other, anchorTree), false);
  assert.equal(others.length, 6);
});

test('a tree that grows is the same as one grown at once', () => {
  const anchors = notations.flat().flatMap(parseAnchor);
  const half = growAnchorTree(anchors.slice(0, 3_000));
  assert.deepEqual(growAnchorTree(anchors.slice(3_000), half), growAnchorTree(anchors));
});

test('a scanner without some detectors, and with others behind, finds what those find', () => {
  const whole = compileScanner(builtin.slice(0, -1), undefined);
  const more = [{ ...builtin[0]!, id: 'own.word', anchors: ['\\bzebra'], pattern: /zebra/ }];
  const isEmail = ({ id }: { readonly id: string }): boolean => id.startsWith('email') || id === 'own.word';
  const text = `a zebra wrote to ${'a.miller'}@mailbox.org, SSN ${['536', '22', '8726'].join('-')}`;
  const found = (scanner: typeof whole): readonly string[] => {
    const matches: Parameters<typeof scanText>[2] = [];
    scanText(scanner, text, matches, 100);
    return matches.map(({ detector }) => detector.id);
  };
  assert.ok(found(whole).length > 1);
  const changed = deriveScanner(whole, isEmail, more, whole.thresholds);
  assert.deepEqual(found(changed).toSorted(), ['email.address', 'own.word']);
  const none = deriveScanner(whole, () => false, more, whole.thresholds);
  assert.deepEqual(found(none), []);
});
