/** `customshouse allow` where only a hook decides and no service runs, on both stores. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runInProcess } from '../src/entry/cli/testing/run.ts';
import {
  explainMissingPostgres,
  type PostgresServer,
  startPostgres,
} from '../src/platform/store/testing/postgres-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'allow-alone-'));
let server: PostgresServer | null = null;
after(async () => {
  await server?.remove();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const PUSH = { tool: 'Bash', input: { command: 'git push --force origin main' }, agent_id: 'coder' };
const STORES: readonly (readonly [name: string, skip: string | false, open: () => Promise<string>])[] = [
  ['SQLite', false, async () => 'sqlite:store.db'],
  [
    'PostgreSQL',
    explainMissingPostgres() ?? false,
    async () => {
      server = await startPostgres();
      return server.makeDatabase();
    },
  ],
];

for (const [name, skip, open] of STORES)
  test(`a hook follows allow, revoke and expiry without a service on ${name}`, { skip }, async () => {
    const cwd = mkdtempSync(join(folder, 'project-'));
    const env = { SERVICE_HOOK_DAEMON: 'off' };
    writeFileSync(
      join(cwd, 'service.yaml'),
      `storage: {url: "${await open()}"}\npolicies: [{name: stop, boundary: action, data_tags: [dangerous], action: block}]\n`,
    );
    const run = (args: readonly string[], stdin = '') => runInProcess(args, { cwd, env, stdin });
    const decide = async () => JSON.parse((await run(['hook'], JSON.stringify(PUSH))).stdout);
    const { decision, event_id } = await decide();
    assert.equal(decision, 'block');
    const allow = (...args: readonly string[]) => run(['allow', ...args, '--reason', 'r', '--yes', '--json']);

    const both = await Promise.all([allow(event_id), allow('git.clean')]);
    assert.deepEqual(
      both.map(({ code }) => code),
      [0, 0],
      JSON.stringify(both),
    );
    assert.equal((await decide()).decision, 'allow');
    const { entries } = JSON.parse((await run(['allow', 'list', '--json'])).stdout);
    assert.equal(entries.length, 2);

    const [{ id }] = JSON.parse(both[0]!.stdout).entries;
    const revoked = await run(['allow', 'revoke', id]);
    assert.deepEqual([revoked.code, (await decide()).decision], [0, 'block'], revoked.stderr);

    assert.equal((await allow('git.push_force', '--until', '1s')).code, 0);
    while ((await decide()).decision === 'allow');
    const logs = await run(['logs', '--policy', 'service.allowlist_detector_add', '--json']);
    assert.equal(logs.stdout.trim().split('\n').length, 3);
  });

test('a folder without configuration and state stays empty', async () => {
  const cwd = mkdtempSync(join(folder, 'empty-'));
  const { code, stderr } = await runInProcess(['allow', 'git.clean', '--reason', 'r', '--yes'], { cwd });
  assert.equal(code, 2);
  assert.match(stderr, /No service runs on the state folder/);
  assert.ok(!existsSync(join(cwd, '.service')));
});
