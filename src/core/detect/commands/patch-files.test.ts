import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../decision/judge.ts';
import { codingAgent } from '../../policy/templates/coding-agent.ts';
import { buildTestCrossing, buildTestPolicy } from '../../testing/policies.ts';
import type { Json } from '../../types/index.ts';

const policy = buildTestPolicy({ documents: [codingAgent.document], settings: { default_action: 'allow' } });

function isStopped(tool: string, value: Json): boolean {
  const content = { kind: 'json', value } as const;
  const crossing = buildTestCrossing({ boundary: 'action', phase: 'request', tool, content });
  return judge(crossing, policy).decision !== 'allow';
}

const buildPatch = (...lines: readonly string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

const STOPPED: readonly (readonly [tool: string, value: Json])[] = [
  ['apply_patch', { command: buildPatch('*** Add File: /etc/cron.d/x', '+* * * * * root sh /tmp/x') }],
  ['apply_patch', { input: buildPatch('*** Delete File: data/prod.db', '*** Delete File: .env') }],
  ['apply_patch', { input: buildPatch('*** Update File: a', '*** Move to: /home/ada/.ssh/authorized_keys') }],
  ['apply_patch', { input: '--- a/.env\n+++ /dev/null\n@@ -1 +0,0 @@\n-A=1\n' }],
  ['Bash', { command: '*** Begin Patch\nrm -rf ~' }],
  ['Bash', { command: `apply_patch <<'EOF'\n${buildPatch('*** Delete File: .env')}\nEOF` }],
  ['shell', { command: ['apply_patch', buildPatch('*** Add File: /etc/cron.d/x', '+a')] }],
  ['Write', { file_path: '/etc/cron.d/x', content: '* * * * * root sh /tmp/x\n' }],
  ['Edit', { file_path: '/etc/sudoers', old_string: 'a', new_string: 'b' }],
  ['write_file', { path: '/home/ada/.ssh/authorized_keys', content: 'x' }],
  ['Write', { file_path: '.git/hooks/pre-commit', content: 'x' }],
  ['mcp__fs__delete_file', { path: 'data/prod.db' }],
  ['mcp__fs__delete_directory', { path: '/home/ada' }],
];

const PASSED: readonly (readonly [tool: string, value: Json])[] = [
  ['apply_patch', { command: buildPatch('*** Update File: a.ts', '@@', "+run('terraform destroy');") }],
  ['apply_patch', { command: buildPatch('*** Update File: a.md', '@@', "+Use 'git push --force' never.") }],
  ['apply_patch', { command: buildPatch('*** Update File: a.rs', '@@', "+/// Runs 'rm -rf /'.") }],
  ['apply_patch', { command: buildPatch('*** Delete File: src/old.ts') }],
  ['shell', { command: ['apply_patch', buildPatch('*** Update File: a.md', '+rm -rf /')] }],
  ['Bash', { command: `apply_patch <<'EOF'\n${buildPatch('*** Update File: a.md', '+rm -rf /')}\nEOF` }],
  ['Write', { file_path: 'src/a.ts', content: 'x' }],
  ['Write', { file_path: 'dotfiles/.vimrc', content: 'x' }],
  ['Read', { file_path: '/etc/cron.d/x' }],
  ['delete_file', { path: 'src/old.ts' }],
];

test('file operations of patches and tools are judged by path', () => {
  assert.deepEqual(
    STOPPED.filter(([tool, value]) => !isStopped(tool, value)),
    [],
  );
  assert.ok(STOPPED.length >= 13);
});

test('lines of a patch are content', () => {
  assert.deepEqual(
    PASSED.filter(([tool, value]) => isStopped(tool, value)),
    [],
  );
  assert.ok(PASSED.length >= 10);
});
