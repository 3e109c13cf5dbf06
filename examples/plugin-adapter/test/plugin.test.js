/** The service tries the plug-in as it would load it. `SERVICE` names the program where it is not on the path. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import plugin from '../index.js';

const folder = join(import.meta.dirname, '..');

test('the service takes the plug-in, and reads its examples as they say', () => {
  const { stdout, stderr, status } = spawnSync(
    process.env.SERVICE ?? 'service',
    ['plugins', 'check', folder, '--json'],
    { encoding: 'utf8', shell: false },
  );
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  assert.deepEqual(JSON.parse(stdout).adapters, ['litellm']);
  assert.equal(plugin.adapters[0].examples.length, 2);
});
