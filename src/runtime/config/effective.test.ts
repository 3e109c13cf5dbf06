// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadConfig } from '../../server/load-config.ts';
import { listSettings } from './effective.ts';

const cwd = mkdtempSync(join(tmpdir(), 'effective-'));
after(() => rmSync(cwd, { recursive: true, force: true }));

async function getSettings(text: string, env: Record<string, string> = {}) {
  const path = join(cwd, 'service.yaml');
  writeFileSync(path, text);
  const read = await loadConfig({ path, cwd, env });
  assert.ok(read.ok, JSON.stringify(read));
  return new Map((await listSettings(read.config, read.schema)).map((each) => [each.path, each]));
}

test('every setting has its value and where it comes from', async () => {
  const found = await getSettings(
    'server:\n  port: 8123\n  host: ${HOST}\npii_protection: {action: flag}\n',
    {
      HOST: '127.0.0.2',
    },
  );
  const named = (path: string) => {
    const { value, source, line } = found.get(path)!;
    return [value, source, line];
  };
  assert.deepEqual(named('server.port'), [8123, 'file', 2]);
  assert.deepEqual(named('server.host'), ['[set]', 'reference', 3]);
  assert.deepEqual(named('server.mode'), ['sidecar', 'default', null]);
  assert.deepEqual(named('pii_protection.action'), ['flag', 'file', 4]);
  assert.ok(found.size > 60, `${found.size} settings`);
});

test('a credential is never shown, at any depth', async () => {
  const marker = 'hunter2marker';
  const found = await getSettings(
    'alerts: {channels: [{type: paging, routing_key: "${KEY}"}]}\nproxy: {providers: [{name: a, family: openai, api_key: "${KEY}", headers: {x-own: "${KEY}"}}]}\n',
    { KEY: marker },
  );
  const text = JSON.stringify([...found.values()]);
  assert.ok(!text.includes(marker), text);
  assert.match(JSON.stringify(found.get('alerts.channels')?.value), /"routing_key":"\[set\]"/);
});
