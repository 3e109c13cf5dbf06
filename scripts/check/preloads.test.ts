import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { endSlowChildren } from './deadline.ts';

test('the preload fixes the seed', () => {
  const program =
    "import fc, { readConfigureGlobal } from 'fast-check'; console.log(fc.readConfigureGlobal().seed, readConfigureGlobal().seed);";
  const print = (...flags: readonly string[]): string => {
    const words = [...flags, '--input-type=module', '-e', program];
    return spawnSync(process.execPath, words, { cwd: import.meta.dirname, encoding: 'utf8' }).stdout;
  };
  assert.equal(print('--import', import.meta.resolve('./fixed-seed.ts')), '20261121 20261121\n');
  assert.equal(print(), 'undefined undefined\n');
});

test('only a slow child is ended', async () => {
  const stop = endSlowChildren(100, 20);
  const loop = spawn(process.execPath, ['-e', 'for (;;);']);
  assert.deepEqual(await once(loop, 'close'), [null, 'SIGKILL']);
  stop();
  const stopLater = endSlowChildren(60_000, 20);
  const short = spawn(process.execPath, ['-e', '']);
  assert.deepEqual(await once(short, 'close'), [0, null]);
  stopLater();
});
