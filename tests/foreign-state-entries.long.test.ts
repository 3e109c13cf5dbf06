/** A service whose state folder holds what is not of it: it starts, audits and alerts, or refuses with the path. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MAIN_FILE } from '../src/entry/cli/testing/main-file.ts';
import { openApiClient } from './support/api-client.ts';
import { freePort, startTestService } from './support/service.ts';
import { until } from './support/until.ts';

function run(
  dir: string,
  ...words: readonly string[]
): Promise<{ code: number; out: string; error: string }> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const options = { cwd: dir, env: { PATH, HOME, NODE_COMPILE_CACHE, NO_COLOR: '1' }, timeout: 120_000 };
  return new Promise((done) => {
    execFile(process.execPath, [MAIN_FILE, ...words], options, (failure, out, error) =>
      done({ code: failure === null ? 0 : Number(failure.code), out, error }),
    );
  });
}

const SPOOLED = 'journal/spool/1700000000004-0123456789abcdef.jsonl';

function makePipe(path: string): void {
  execFileSync('mkfifo', [path]);
}

test('a folder of foreign entries is reported, and auditing and alerts continue', {
  timeout: 300_000,
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'foreign-state-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const state = join(dir, '.service');
  for (const name of ['keys', 'journal/spool', 'journal/other'])
    mkdirSync(join(state, name), { recursive: true, mode: 0o700 });
  for (const name of [
    SPOOLED,
    'managed-policy.json',
    'owner.json',
    'keys/zz.json',
    'index.db',
    'legal-holds.json',
  ])
    mkdirSync(join(state, name, 'inner'), { recursive: true });
  makePipe(join(state, 'journal/spool/1700000000005-0123456789abcdef.jsonl'));
  makePipe(join(state, 'journal/other/000000000000001.jsonl'));
  makePipe(join(state, 'blocked-agents.json'));
  symlinkSync('/etc/hosts', join(state, 'journal/spool/1700000000006-0123456789abcdef.jsonl'));
  const service = await startTestService({
    dir,
    config: {
      dashboard: { users: [{ user_id: 'root', role: 'admin', tenants: ['*'] }] },
      alerts: {
        channels: [{ type: 'file', name: 'log', path: 'alerts.jsonl' }],
        rules: [
          { rule_id: 'blocks', name: 'Blocks', source: 'violations', threshold: 1, channels: ['log'] },
          { rule_id: 'failures', name: 'Failures', source: 'failures', threshold: 1, channels: ['log'] },
        ],
      },
    },
  });
  t.after(() => service.stop().catch(() => {}));
  const call = openApiClient(service);
  const block = () => call('/v1/scan/input', { body: { text: 'Use key sk-ABCDEF1234567890' } });
  assert.equal((await block()).body.decision, 'block');
  const alerts = () =>
    existsSync(join(dir, 'alerts.jsonl')) ? readFileSync(join(dir, 'alerts.jsonl'), 'utf8') : '';
  await until(async () => /"blocks"/.test(alerts()) && /"failures"/.test(alerts()), 'both alerts', 500);
  // An agent makes another one while the service runs.
  mkdirSync(join(state, 'journal/spool/1700000000007-0123456789abcdef.jsonl'));
  const listReported = async () => {
    const { out } = await run(dir, 'logs', '--json', '--policy', 'service.state_folder', '--last', '1h');
    return out;
  };
  await until(async () => /1700000000007/.test(await listReported()), 'an event of the new entry', 500);
  assert.match(await listReported(), /managed-policy\.json\.refused-/);
  const health = (await call('/v1/health')).body;
  assert.ok(health.foreign_entries.includes('journal/other/000000000000001.jsonl'), JSON.stringify(health));
  const elsewhere = await fetch(`${service.url}/v1/health`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
  assert.doesNotMatch(await elsewhere.text(), /foreign_entries/);
  assert.match((await run(dir, 'logs', '--last', '1h')).out, /builtin\.secret\.input/);
  const verified = await run(dir, 'audit', 'verify');
  assert.equal(verified.code, 1, verified.out);
  assert.match(`${verified.out}${verified.error}`, /other\/000000000000001\.jsonl/);
  rmSync(join(state, 'journal/other'), { recursive: true });
  assert.equal((await run(dir, 'audit', 'verify')).code, 0);
  assert.equal((await service.stop()).code, 0);
});

test('a start that cannot continue names the path and ends with 2', { timeout: 300_000 }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'foreign-state-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const state = join(dir, '.service');
  writeFileSync(
    join(dir, 'service.yaml'),
    JSON.stringify({ server: { port: await freePort(), workers: 1 } }),
  );
  for (const name of ['operator-token', 'owner.lock', 'store.db', 'memory-key', 'keys/current']) {
    mkdirSync(join(state, name), { recursive: true, mode: 0o700 });
    const { code, error } = await run(dir, 'serve');
    assert.equal(code, 2, `${name}: ${error}`);
    assert.match(error, new RegExp(name.split('/').at(-1)!));
    assert.doesNotMatch(error, /Internal error/);
    rmSync(state, { recursive: true });
  }
});
