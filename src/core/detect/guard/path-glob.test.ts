import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getStepsTaken } from '../../steps.ts';
import { compilePathGlob } from './path-glob.ts';

/** Globs with paths that they match, and paths that they do not match. */
const GLOBS: readonly (readonly [glob: string, hits: readonly string[], misses: readonly string[]])[] = [
  ['a/*.yaml', ['a/b.yaml', 'a/.yaml'], ['a/b/c.yaml', 'a/b.yml', 'b/a/b.yaml']],
  ['**/*.yaml', ['b.yaml', 'a/b/c.yaml'], ['a/b.yml']],
  ['a/**', ['a/', 'a/b', 'a/b/c'], ['a', 'b/a/c']],
  ['?b', ['ab'], ['b', '/b', 'aab']],
  ['[a-c]x[!d]', ['axe', 'cx/'], ['dxe', 'axd', 'ax']],
  ['{a,bc}{,d}', ['a', 'ad', 'bc', 'bcd'], ['b', 'd', 'abc']],
  ['*a*b', ['ab', 'xaxxb', 'aab'], ['ba', 'a/b']],
  ['[', ['['], ['a']],
  ['{', ['{'], ['']],
  ['', [''], ['a']],
];

test('a glob matches as shells do', () => {
  for (const [glob, hits, misses] of GLOBS) {
    const { test: matches } = compilePathGlob(glob);
    for (const hit of hits) assert.equal(matches(hit), true, `${glob} ${hit}`);
    for (const miss of misses) assert.equal(matches(miss), false, `${glob} ${miss}`);
  }
  assert.equal(GLOBS.length, 10);
});

test('many stars take steps in proportion to the glob', () => {
  for (const piece of ['*', '**/', '*a', '**/a', '[ab]*', '?*', '{a,b}*']) {
    const [once, twice] = [200, 400].map((times) => {
      const before = getStepsTaken();
      assert.equal(compilePathGlob(`${piece.repeat(times)}x`).test('a'.repeat(60)), false, piece);
      return getStepsTaken() - before;
    });
    assert.ok(twice! <= 2.2 * once!, `${piece}: ${once} and ${twice} steps`);
  }
});
