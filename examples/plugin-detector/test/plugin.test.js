/** The service tries the plug-in as it would load it. `SERVICE` names the program where it is not on the path. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import plugin from '../index.js';

const folder = join(import.meta.dirname, '..');

test('the service takes the plug-in, and its detectors find what they must and nothing else', () => {
  const { stdout, stderr, status } = spawnSync(
    process.env.SERVICE ?? 'service',
    ['plugins', 'check', folder, '--json'],
    { encoding: 'utf8', shell: false },
  );
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  const report = JSON.parse(stdout);
  assert.equal(report.status, 'active');
  assert.deepEqual(
    report.detectors,
    plugin.detectors.map(({ id }) => id),
  );
});
