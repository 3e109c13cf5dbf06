import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { judge } from '../src/core/decision/judge.ts';
import { codingAgent } from '../src/core/policy/templates/coding-agent.ts';
import { buildTestCrossing, buildTestPolicy } from '../src/core/testing/policies.ts';

const policy = buildTestPolicy({ documents: [codingAgent.document] });

/** Returns the lines of a file in `cases/commands`. `\n` in a line is a line break, and `##` starts a heading. */
function linesOf(file: string): readonly string[] {
  return readFileSync(new URL(`commands/${file}.txt`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('##'))
    .map((line) => line.replaceAll('\\n', '\n').replaceAll('\\t', '\t'));
}

function isStopped(command: string): boolean {
  const content = { kind: 'json', value: { command } } as const;
  const crossing = buildTestCrossing({ boundary: 'action', phase: 'request', tool: 'Bash', content });
  return judge(crossing, policy).decision !== 'allow';
}

/** Commands that show the environment only to the next program, as the everyday `env | grep NODE` does. */
const PASSES = ['env | base64', 'export | grep KEY'];

test('the coding-agent pack stops dangerous command lines', () => {
  const lines = linesOf('dangerous');
  const passed = lines.filter((line) => !isStopped(line));
  assert.deepEqual(passed, PASSES);
  assert.ok(lines.length > 1_100 && new Set(lines).size === lines.length, `${lines.length} lines`);
});

test('the coding-agent pack stops no harmless command line', () => {
  const lines = linesOf('harmless');
  assert.deepEqual(
    lines.filter((line) => isStopped(line)),
    [],
  );
  assert.ok(lines.length > 600 && new Set(lines).size === lines.length, `${lines.length} lines`);
});
