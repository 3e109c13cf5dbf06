/** A detector and a command are each added with one file and one line of a list; every other place derives them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copySource, extensions } from './support/extensions.ts';

test('a detector finds, and a command runs, and both are in lists, help, completion and pages', () => {
  const copy = copySource(extensions.detector, extensions['CLI verb']);
  try {
    mkdirSync(join(copy, 'project'));
    const start = (file: string, ...words: string[]) => {
      const ran = spawnSync(process.execPath, [join(copy, file), ...words], {
        cwd: join(copy, 'project'),
        encoding: 'utf8',
      });
      return { status: ran.status, all: `${ran.stdout}${ran.stderr}` };
    };
    const run = (...words: string[]) => start('src/entry/cli/main.ts', ...words);
    assert.match(run('greet').all, /^hello$/m);
    assert.match(run('--help').all, /^ {2}greet +greet the user$/m);
    assert.match(run('completion', 'bash').all, /greet/);
    assert.match(run('detectors', 'list').all, /fake\.key/);
    const key = ['fakekey', '0a1b2c3d4e5f6071'].join('-');
    const found = run('scan', '--json', `use ${key}`);
    assert.match(found.all, /"rule_id": ?"fake\.key"/);
    const made = start('scripts/generate/main.ts');
    assert.equal(made.status, 0, made.all);
    assert.match(readFileSync(join(copy, 'docs/reference/detectors/api_key.md'), 'utf8'), /fake\.key/);
    assert.notEqual(
      readFileSync(join(copy, 'src/core/detect/registry/anchor-tree.ts'), 'utf8'),
      readFileSync('src/core/detect/registry/anchor-tree.ts', 'utf8'),
    );
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});
