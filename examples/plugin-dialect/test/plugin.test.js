/** The service asked as Cascade asks it. `SERVICE` names the program where it is not on the path. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const example = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'plugin-dialect-'));
after(() => rmSync(folder, { recursive: true, force: true }));

writeFileSync(
  join(folder, 'service.yaml'),
  JSON.stringify({
    plugins: { files: [join(example, 'index.js')] },
    policies: [
      { name: 'no-key-files', boundary: 'action', data_tags: ['path.credential_file'], action: 'block' },
    ],
  }),
);

function service(words, input = '') {
  const env = { ...process.env, SERVICE_HOOK_DAEMON: 'off' };
  return spawnSync(process.env.SERVICE ?? 'service', words, { cwd: folder, encoding: 'utf8', input, env });
}

const hook = (agentActionName, toolInfo) =>
  service(
    ['hook', '--dialect', 'windsurf'],
    JSON.stringify({ agent_action_name: agentActionName, trajectory_id: 't', tool_info: toolInfo }),
  );

test('the service takes the plug-in', () => {
  const { status, stdout, stderr } = service(['plugins', 'check', example, '--json']);
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  assert.deepEqual(JSON.parse(stdout).dialects, ['windsurf']);
});

test('what is harmless goes on, and what a rule blocks ends with 2 and the reason', () => {
  const read = hook('pre_read_code', { file_path: 'src/main.ts' });
  assert.deepEqual([read.status, read.stdout, read.stderr], [0, '', '']);
  const blocked = hook('pre_read_code', { file_path: '/home/ada/.ssh/id_rsa' });
  assert.deepEqual([blocked.status, blocked.stdout], [2, '']);
  assert.match(blocked.stderr, /rule no-key-files/);
  assert.equal(hook('post_read_code', { file_path: '/home/ada/.ssh/id_rsa' }).status, 0);
});

test('what cannot be read ends with 2 too', () => {
  assert.equal(hook('pre_read_code', {}).status, 2);
  assert.equal(hook('pre_something_new', {}).status, 2);
  assert.equal(service(['hook', '--dialect', 'windsurf'], 'no json').status, 2);
});
