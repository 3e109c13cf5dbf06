import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { withFolder } from './testing/run.ts';

const BIN = new URL('bin.ts', import.meta.url).pathname;

test('the published command says which Node to install, and runs on one that suffices', async () => {
  await withFolder(async (folder) => {
    // An old Node does not know the extension `.ts`.
    const old = join(folder, 'bin.mjs');
    await copyFile(BIN, old);
    const pretend = `data:text/javascript,${encodeURIComponent('Object.defineProperty(process.versions, "node", { value: "20.11.0" })')}`;
    const refused = spawnSync(process.execPath, ['--import', pretend, old, '--version'], {
      encoding: 'utf8',
    });
    assert.equal(refused.status, 2);
    assert.equal(refused.stdout, '');
    assert.match(refused.stderr, /needs Node 24 or later, and this is Node 20\.11\.0/);
    assert.match(refused.stderr, /nodejs\.org/);
    const ran = spawnSync(process.execPath, [BIN, '--version'], { encoding: 'utf8' });
    assert.equal(ran.status, 0);
    assert.match(ran.stdout, /^\d+\.\d+\.\d+\n$/);
  });
});
