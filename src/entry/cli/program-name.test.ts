import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { findProgramName } from './program-name.ts';

const CASES: readonly (readonly [script: string, launcher: string | undefined, name: string])[] = [
  ['/work/clone/src/entry/cli/main.ts', './service', './service'],
  ['/work/clone/src/entry/cli/main.ts', '../clone/service', '../clone/service'],
  ['/work/clone/src/entry/cli/main.ts', '../clone/customshouse', '../clone/customshouse'],
  ['/work/clone/src/entry/cli/main.ts', '/opt/a clone/service', "'/opt/a clone/service'"],
  // Only the launcher's own path is read from the environment.
  ['/work/clone/src/entry/cli/main.ts', 'other', 'customshouse'],
  ['/work/clone/src/entry/cli/main.ts', '\u001b[2J/service', 'customshouse'],
  ['/usr/local/bin/customshouse', undefined, 'customshouse'],
  ['/work/app/node_modules/.bin/customshouse', undefined, 'npx customshouse'],
  [
    '/root/.npm/_npx/0a1b/node_modules/.bin/customshouse',
    undefined,
    '/root/.npm/_npx/0a1b/node_modules/.bin/customshouse',
  ],
  [
    '/work/app/node_modules/customshouse/dist/entry/cli/bin.js',
    undefined,
    'node node_modules/customshouse/dist/entry/cli/bin.js',
  ],
];

test('hints name the command that works from the current folder', () => {
  for (const [script, launcher, name] of expectRows(10, CASES)) {
    assert.equal(findProgramName({ script, cwd: '/work/app', launcher }), name, `${script} ${launcher}`);
  }
});
