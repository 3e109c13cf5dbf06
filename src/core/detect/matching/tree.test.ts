import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchorTree } from '../registry/anchor-tree.ts';
import { builtinFiles } from '../registry/builtin.ts';
import { parseAnchor } from './anchors.ts';
import { changedScanner, compileScanner, makeAnchors, makeTree, notationsOf, scan } from './scanner.ts';
import { growTree } from './tree.ts';
import { anchorsAt, childrenAt, leadsTo } from './trie.ts';
import { isWrittenFor, readAnchors, readTree, writeTree } from './written-tree.ts';

const builtin = builtinFiles.flatMap((file) => file());
const notations = notationsOf(builtin);

test('the tree that was made ahead is the one that the anchors make', () => {
  const made = makeTree(notations);
  assert.deepEqual(readTree(anchorTree), made);
  assert.deepEqual(writeTree(notations, made), anchorTree);
  assert.ok(made.tree.ends.length > 5_000, `${made.tree.ends.length} anchors`);
});

test('the anchors that are read from it are walked like those that are made', () => {
  const made = makeAnchors(notations);
  const read = readAnchors(anchorTree);
  for (const { trie } of [read, made]) {
    for (let node = 0; node < trie.node_count; node++) {
      childrenAt(trie, node);
      anchorsAt(trie, node);
      for (let unit_class = 0; unit_class < trie.class_count; unit_class++) leadsTo(trie, node, unit_class);
    }
  }
  assert.deepEqual({ ...read.trie, source: null }, { ...made.trie, source: null });
  assert.deepEqual([read.counts, read.lengths], [made.counts, made.lengths]);
  assert.deepEqual(read.tree(), made.tree());
});

test('a tree is known not to be of other anchors than its own', () => {
  const [first = [], ...others_first] = notations;
  const others = [
    notations.slice(1),
    [...notations, ['abc']],
    notations.toReversed(),
    [[...first, 'x'], ...others_first],
    [first.map((notation) => `${notation}x`), ...others_first],
    [[...first, ...others_first[0]!], ...others_first.slice(1)],
  ];
  assert.ok(isWrittenFor(notations, anchorTree));
  for (const other of others) assert.equal(isWrittenFor(other, anchorTree), false);
  assert.equal(others.length, 6);
});

test('a tree that grows is the same as one grown at once', () => {
  const anchors = notations.flat().flatMap(parseAnchor);
  const half = growTree(anchors.slice(0, 3_000));
  assert.deepEqual(growTree(anchors.slice(3_000), half), growTree(anchors));
});

test('a scanner without some detectors, and with others behind, finds what those find', () => {
  const whole = compileScanner(builtin.slice(0, -1), undefined);
  const more = [{ ...builtin[0]!, id: 'own.word', anchors: ['\\bzebra'], pattern: /zebra/ }];
  const isEmail = ({ id }: { readonly id: string }): boolean => id.startsWith('email') || id === 'own.word';
  const text = `a zebra wrote to ${'a.miller'}@mailbox.org, SSN ${['536', '22', '8726'].join('-')}`;
  const found = (scanner: typeof whole): readonly string[] => {
    const matches: Parameters<typeof scan>[2] = [];
    scan(scanner, text, matches, 100);
    return matches.map(({ detector }) => detector.id);
  };
  assert.ok(found(whole).length > 1);
  const changed = changedScanner(whole, isEmail, more, whole.sums);
  assert.deepEqual(found(changed).toSorted(), ['email.address', 'own.word']);
  const none = changedScanner(whole, () => false, more, whole.sums);
  assert.deepEqual(found(none), []);
});
