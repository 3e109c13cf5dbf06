import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInProcess, withFolder } from './testing/run.ts';

const CASES: readonly (readonly [words: readonly string[], code: number, pattern: RegExp])[] = [
  [
    ['--tool', 'Bash', '--command', 'git push --force origin main'],
    1,
    /^block [\s\S]*git push --force-with-lease/,
  ],
  [['--tool', 'Bash', '--command', 'git push'], 0, /^allow /],
  [['--tool', 'Bash', '--input', '{"command": "rm -rf /"}'], 1, /dangerous\.filesystem/],
  [['--tool', 'Bash', '--input', '["ls"]'], 2, /not a JSON object/],
  [['--tool', 'Bash', '--input', 'ls'], 2, /not a JSON object/],
  [['--tool', 'Bash', '--input', '{}', '--command', 'ls'], 2, /not both/],
  [['--command', 'ls'], 2, /--tool/],
];

test('check decides on calls and makes none', async () => {
  let ran = 0;
  for (const [words, code, pattern] of CASES)
    await withFolder(async (cwd) => {
      const result = await runInProcess(['check', ...words], { cwd });
      assert.equal(result.code, code, result.stderr);
      assert.match(`${result.stdout}${result.stderr}`, pattern);
      ran += 1;
    });
  assert.equal(ran, 7);
});

test('check shows neither a secret nor its event', async () => {
  await withFolder(async (cwd) => {
    const key = ['sk-', 'ABCDEF1234567890'].join('');
    const tried = await runInProcess(['check', '--tool', 'send', '--input', `{"key": "${key}"}`, '--json'], {
      cwd,
    });
    const { decision, violations } = JSON.parse(tried.stdout);
    assert.deepEqual([decision, violations.length], ['block', 1]);
    assert.ok(!tried.stdout.includes(key));
    const logs = await runInProcess(['logs', '--json'], { cwd });
    assert.match(logs.stdout, /"tool_name":"send"/);
    assert.ok(!logs.stdout.includes(key));
  });
});
