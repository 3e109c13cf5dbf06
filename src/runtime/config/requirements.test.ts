// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../server/load-config.ts';

test('a password that breaks the address of the store is refused, and not repeated', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'requirements-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'service.yaml'), 'storage: {url: "postgres://u:${DB}@db:5432/x"}');
  const rows: readonly (readonly [password: string, fits: boolean])[] = [
    ['marker@x#y', false],
    ['marker/x', false],
    ['12/marker', false],
    ['12?marker', false],
    ['marker%', false],
    ['marker%40%23', true],
    ['marker@x', true],
    ['', true],
  ];
  for (const [password, fits] of rows) {
    const read = await loadConfig({ path: null, env: { DB: password }, cwd });
    assert.equal(read.ok, fits, password);
    if (read.ok) continue;
    assert.match(read.problems[0]!.message, /^`storage\.url` is no address .* two hexadecimal digits\.$/);
    assert.ok(!JSON.stringify(read).includes('marker'), password);
  }
  assert.equal(rows.length, 8);
});
