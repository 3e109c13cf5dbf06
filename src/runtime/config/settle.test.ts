import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../server/load-config.ts';

test('a long text is tested against its pattern too, and a longer one is refused', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'long-text-'));
  const read = async (target: string): Promise<readonly string[]> => {
    await writeFile(join(cwd, 'service.yaml'), JSON.stringify({ proxy: { target } }));
    const result = await loadConfig({ path: null, cwd, env: {} });
    return result.ok ? [] : result.problems.map(({ message }) => message);
  };
  const address = 'https://api.example/';
  assert.deepEqual(await read(address + 'a'.repeat(300)), []);
  const [spaced] = await read(`${address}${'a'.repeat(300)} b`);
  assert.match(spaced!, /^`proxy\.target` must be/);
  const [longer] = await read(address + 'a'.repeat(5_000));
  assert.match(longer!, /^`proxy\.target` is longer than \d+ characters\.$/);
  await rm(cwd, { recursive: true });
});
