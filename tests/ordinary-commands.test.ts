import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { judge } from '../src/core/decision/judge.ts';
import { codingAgent } from '../src/core/policy/templates/coding-agent.ts';
import { buildTestCrossing, buildTestPolicy } from '../src/core/testing/policies.ts';

const policy = buildTestPolicy({ documents: [codingAgent.document] });

function isStopped(command: string): boolean {
  const content = { kind: 'json', value: { command } } as const;
  const crossing = buildTestCrossing({ boundary: 'action', phase: 'request', tool: 'Bash', content });
  return judge(crossing, policy).decision !== 'allow';
}

test('the coding-agent pack stops no ordinary command of popular packages', () => {
  const lines = readFileSync(
    new URL('../benchmarks/detection/ordinary-commands.txt', import.meta.url),
    'utf8',
  )
    .split('\n')
    .filter((line) => line !== '');
  assert.deepEqual(
    lines.filter((line) => isStopped(line.replaceAll('\\n', '\n'))),
    [],
  );
  assert.ok(lines.length >= 300, `${lines.length} lines`);
});

test('a dangerous line among them would be stopped', () => {
  assert.ok(isStopped('npm test && rm -rf ~'));
});
