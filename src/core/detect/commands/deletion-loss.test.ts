import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findWorstSeverity, SPELLINGS } from './testing/spellings.ts';

/** Paths by the severity of their deletion with all below them; `none` for what nothing is lost of. */
const LOSSES: Readonly<Record<string, readonly string[]>> = {
  critical: ['~', '/etc'],
  high: ['/srv/data', '../other'],
  medium: ['src', '.'],
  none: ['dist', '/tmp/x'],
};

/** Programs and options that delete a folder with all below it. */
const DELETIONS: readonly ((path: string) => string)[] = [
  (path) => `rm -rf ${path}`,
  (path) => `rm -r ${path}`,
  (path) => `rm --recursive --force -- ${path}`,
  (path) => `find ${path} -delete`,
  (path) => `find ${path} -mindepth 1 -delete`,
  (path) => `find ${path} -exec rm -rf {} +`,
  (path) => `find ${path} -print0 | xargs -0 rm -rf`,
  (path) => `rm -rf $(find ${path})`,
  (path) => `find ${path} -type f | while read f; do rm "$f"; done`,
  (path) => `rimraf ${path}`,
  (path) => `pnpm rimraf ${path}`,
  (path) => `npx -y rimraf@5 ${path}`,
  (path) => `python3 -c "import shutil, os; shutil.rmtree(os.path.expanduser('${path}'))"`,
  (path) => `ln -s ${path} link && rm -rf link/`,
  (path) => `printf 'a:\\n\\trm -rf ${path}\\n' > Makefile && make a`,
];

const IDS = /^(?:filesystem|execution\.code)/;

test('every spelling of one loss has one severity', () => {
  const others: string[] = [];
  let count = 0;
  for (const [expected, paths] of Object.entries(LOSSES))
    for (const path of paths)
      for (const [at, buildDeletion] of DELETIONS.entries()) {
        const plain = buildDeletion(path);
        // The wrapper that is not known takes no program that is not known either.
        const spellings = at < 8 ? SPELLINGS : SPELLINGS.slice(0, 4);
        for (const spell of spellings) {
          count += 1;
          const found = findWorstSeverity(spell(plain), IDS);
          if (found !== expected) others.push(`${found} instead of ${expected}: ${spell(plain)}`);
        }
      }
  assert.deepEqual(others, []);
  assert.ok(count > 800, `${count} scripts`);
});
