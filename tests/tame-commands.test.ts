import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TAME } from '../benchmarks/detection/commands-tame.ts';
import { judgeScript } from '../src/core/detect/commands/judge.ts';

test('everyday lines of PowerShell and cmd are not found', () => {
  const found = TAME.map((line) => [line, judgeScript(line).matches.map(({ rule }) => rule.id)] as const);
  assert.deepEqual(
    found.filter(([, ids]) => ids.length > 0),
    [],
  );
  assert.ok(TAME.length >= 120 && new Set(TAME).size === TAME.length, `${TAME.length} lines`);
});

test('a dangerous line among them would be found', () => {
  assert.ok(judgeScript('Remove-Item -Recurse -Force C:\\src').matches.length > 0);
});
