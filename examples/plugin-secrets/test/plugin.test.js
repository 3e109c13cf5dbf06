/** The driver by itself, and the service that takes it. `SERVICE` names the program where it is not on the path. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import plugin from '../index.js';

const example = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'plugin-secrets-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const mount = join(folder, 'secrets');
mkdirSync(join(mount, 'db'), { recursive: true });
writeFileSync(join(mount, 'db/password'), 'value-5d41\n');
writeFileSync(join(folder, 'outside'), 'not-mounted');
symlinkSync(join(folder, 'outside'), join(mount, 'leads-out'));

test('the driver reads what is mounted, and nothing else', async () => {
  const { get, check } = await plugin.drivers[0].open({ folder: mount });
  const { signal } = new AbortController();
  await check();
  assert.equal(await get('db/password', signal), 'value-5d41');
  assert.equal(await get('db/none', signal), null);
  assert.equal(await get('db', signal), null);
  await assert.rejects(get('leads-out', signal), { code: 'secrets_denied' });
  await assert.rejects(plugin.drivers[0].open({ folder: join(folder, 'none') }));
});

test('the service takes it, and fills in what its configuration asks for', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own `${secret:name}` is meant.
  const reference = '${secret:db/password}';
  const config = {
    plugins: { files: [join(example, 'index.js')] },
    secrets: {
      backend: 'plugin',
      plugin: { from: join(example, 'index.js'), driver: 'files', settings: { folder: mount } },
    },
    alerts: { channels: [{ type: 'paging', routing_key: reference }] },
  };
  const service = (...words) =>
    spawnSync(process.env.SERVICE ?? 'service', words, { cwd: folder, encoding: 'utf8' });
  writeFileSync(join(folder, 'service.yaml'), JSON.stringify(config));
  const checked = service('plugins', 'check', example, '--json');
  assert.deepEqual(JSON.parse(checked.stdout).drivers, ['files']);
  const good = service('validate');
  assert.equal(good.status, 0, good.stderr);
  rmSync(join(mount, 'db/password'));
  const gone = service('validate');
  assert.notEqual(gone.status, 0);
  assert.match(gone.stderr, /db\/password.*does not have/);
});
