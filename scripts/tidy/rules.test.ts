import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getFigures } from './figures.ts';
import type { Remark, TidyRule } from './rule.ts';
import { rules } from './rules/index.ts';
import { parseTree } from './tree.ts';

function examine(rule: TidyRule, files: Readonly<Record<string, string>>): Remark[] {
  return rule.examine(parseTree(Object.entries(files).map(([path, text]) => ({ path, text }))));
}

for (const rule of rules) {
  test(`${rule.name} refuses what it must, and nothing else`, () => {
    assert.ok(rule.refuses.length > 0 && rule.accepts.length > 0);
    for (const { files, remarks } of rule.refuses) {
      assert.equal(examine(rule, files).length, remarks, JSON.stringify(files).slice(0, 200));
    }
    for (const files of rule.accepts) assert.deepEqual(examine(rule, files), []);
  });
}

test('each rule has a name of its own', () => {
  assert.equal(new Set(rules.map(({ name }) => name)).size, rules.length);
});

test('figures leave tests out', () => {
  const text = 'export function a() {\n  return 1;\n}\n';
  const files = { 'src/core/a.ts': text, 'src/core/a.test.ts': text, 'scripts/a.ts': text };
  const figures = getFigures(parseTree(Object.entries(files).map(([path, each]) => ({ path, text: each }))));
  assert.equal(figures.files, 1);
  assert.equal(figures.lines, 3);
  assert.equal(figures.functions, 1);
  assert.equal(figures.lines_median_per_function, 3);
});
