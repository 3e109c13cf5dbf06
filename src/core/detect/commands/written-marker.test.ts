import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../decision/judge.ts';
import { codingAgent } from '../../policy/templates/coding-agent.ts';
import { buildTestCrossing, buildTestPolicy } from '../../testing/policies.ts';
import type { Json } from '../../types/index.ts';
import { findMarkerAsValue } from './written-marker.ts';

const policies = [[], [codingAgent.document]].map((documents) =>
  buildTestPolicy({ documents, settings: { default_action: 'allow' } }),
);

/** Returns the decision with the built-in rules and with the pack, and the found text. */
function judgeCall(tool: string, value: Json): readonly string[] {
  const content = { kind: 'json', value } as const;
  const crossing = buildTestCrossing({ boundary: 'action', phase: 'request', tool, content });
  return policies.flatMap((policy) => {
    const { decision, findings } = judge(crossing, policy);
    const found = findings.filter(({ rule_id }) => rule_id === 'redaction.written_back');
    return [decision, ...found.map(({ action, start, end }) => `${action} ${end - start}`)];
  });
}

const FLAGGED = ['allow', 'flag 10', 'allow', 'flag 10'];
const PASSED = ['allow', 'allow'];
const LINE = 'API_KEY = "[REDACTED]"';

const CALLS: readonly (readonly [tool: string, value: Json, expected: readonly string[]])[] = [
  ['Write', { file_path: '/tmp/p/.env', content: 'STRIPE_SECRET_KEY=[REDACTED]\nDEBUG=1\n' }, FLAGGED],
  ['Edit', { file_path: 'a.py', old_string: `${LINE}\nT = 5`, new_string: `${LINE}\nT = 10` }, FLAGGED],
  ['write_file', { content: `a\n${LINE}`, path: 'a.py' }, FLAGGED],
  ['mcp__fs__edit_file', { path: 'a.py', edits: [{ oldText: 'x', newText: LINE }] }, FLAGGED],
  ['apply_patch', { input: `*** Begin Patch\n*** Update File: a.py\n@@\n+${LINE}\n*** End Patch` }, FLAGGED],
  ['Write', { file_path: 'config.json', content: '{"db": {"password": "[REDACTED]"}}' }, FLAGGED],
  ['Write', { file_path: 'id_ed25519', content: '[REDACTED]\n' }, FLAGGED],
  ['Edit', { file_path: 'a.py', old_string: LINE, new_string: 'API_KEY = load()' }, PASSED],
  ['apply_patch', { input: `*** Begin Patch\n*** Update File: a.py\n@@\n-${LINE}\n+A = 1` }, PASSED],
  ['apply_patch', { input: `*** Begin Patch\n*** Update File: a.md\n@@\n+${LINE}` }, PASSED],
  ['Write', { file_path: 'README.md', content: `Masked text reads:\n\n    ${LINE}\n` }, PASSED],
  ['Write', { content: LINE, file_path: 'docs/redaction.md' }, PASSED],
  ['TodoWrite', { todos: [{ content: LINE }] }, PASSED],
  ['Read', { file_path: 'a.py', note: LINE }, PASSED],
];

test('a marker written back to a file is flagged', () => {
  for (const [tool, value, expected] of CALLS)
    assert.deepEqual(judgeCall(tool, value), expected, JSON.stringify(value));
  assert.equal(CALLS.length, 14);
});

test('the decision says how to keep the value', () => {
  const content = { kind: 'json', value: { file_path: '.env', content: 'KEY=[REDACTED]' } } as const;
  const crossing = buildTestCrossing({ boundary: 'action', phase: 'request', tool: 'Write', content });
  const { action, rule, reason } = judge(crossing, policies[0]!);
  assert.deepEqual([action, rule], ['flag', 'builtin.dangerous.action.redaction']);
  assert.match(reason, /Keep the line as it is in the file, or restore it/);
});

test('a marker hides no command in the same text', () => {
  const content = `os.system("rm -rf /")\n${LINE}`;
  const value = { file_path: 'a.py', content } as const;
  const crossing = buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    tool: 'Write',
    content: { kind: 'json', value },
  });
  const ids = judge(crossing, policies[0]!).findings.map(({ rule_id }) => rule_id);
  const without = judge(
    {
      ...crossing,
      content: { kind: 'json', value: { ...value, content: content.replace('[REDACTED]', 'x') } },
    },
    policies[0]!,
  ).findings.map(({ rule_id }) => rule_id);
  assert.deepEqual(ids, [...without, 'redaction.written_back']);
});

const VALUES = [
  'export TOKEN=[REDACTED:api_key]',
  'password: [REDACTED]',
  '  - "[REDACTED]"',
  'key: |\n  [REDACTED]\n',
  'const dsn: string = "postgres://app:[REDACTED]@db/app";',
  "connect(host, password='[REDACTED]')",
  "curl -H 'Authorization: Bearer [REDACTED]' https://a.test",
  'mysql --password [REDACTED] app',
  '<password>[REDACTED]</password>',
  'machine a.test login ada password [REDACTED]',
  'token := "[REDACTED:jwt]"',
  'email = "[EMAIL_1]"',
  'ADMIN=[EMAIL_12]',
  'KEY=[REDACTED] # live',
];

const NO_VALUES = [
  'Values read as [REDACTED] in the log.',
  '// Output: [REDACTED]',
  "const MASK = '[REDACTED]';",
  "assert.equal(hide(text), '[REDACTED]');",
  "if (value === '[REDACTED]') return;",
  "pino({ redact: { censor: '[REDACTED]' } })",
  'items = [ITEM_1]',
  'x: Note: [REDACTED] is a mask',
  '[EMAIL_1]',
  'KEY=[OTHER]',
];

test('a marker is a value next to a name only', () => {
  assert.deepEqual(
    VALUES.filter((text) => findMarkerAsValue(text) === null),
    [],
  );
  assert.deepEqual(
    NO_VALUES.filter((text) => findMarkerAsValue(text) !== null),
    [],
  );
});
