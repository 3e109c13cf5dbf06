import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'batches-test-')));
after(() => rmSync(folder, { recursive: true }));

const PASSES = "test('works', () => {});";
const FAILS = "test('works', () => { throw new Error('broken'); });";
const BREAKS_OFF = "throw new Error('broken off');";
/** Two such tests fail in one process. */
const WANTS_TO_BE_FIRST =
  "test('is first', () => { if (Symbol.ran) throw new Error('second'); Symbol.ran = 1; });";
const HAS_HOOK = "before(() => { Symbol.ran = 1; });\ntest('has a hook', () => {});";

/** A round's program. It runs as a separate process, because a test cannot run test files. */
const ROUND = `
  import { checkInBatches } from '${import.meta.resolve('./batches.ts')}';
  import { getSummary } from '${import.meta.resolve('./outcome.ts')}';
  const outcome = await checkInBatches('all', process.argv.slice(2), console.log);
  console.log(getSummary([outcome], 1).replaceAll(/^heaviest.*\\n/gm, ''));
  console.log(outcome.output);
  console.log('passed: ' + outcome.ok);`;

/** Runs one layer's files as a round does, and returns the lines that it printed. */
function runRound(name: string, ...bodies: readonly string[]): readonly string[] {
  const layer = join(folder, name, 'src', 'layer');
  mkdirSync(layer, { recursive: true });
  const files = bodies.map((_, at) => join(layer, `${at}.test.ts`));
  for (const [at, file] of files.entries())
    writeFileSync(file, `import { before, test } from 'node:test';\n${bodies[at]}`);
  writeFileSync(join(folder, name, 'round.mjs'), ROUND);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const options = { encoding: 'utf8', env, cwd: join(folder, name) } as const;
  return execFileSync(process.execPath, ['round.mjs', ...files], options).split('\n');
}

function assertLines(printed: readonly string[], lines: readonly string[]): void {
  for (const line of lines) assert.ok(printed.includes(line), `${line}\n${printed.join('\n')}`);
}

test('files of one process have outcomes each', () => {
  const printed = runRound('passes', PASSES, PASSES, HAS_HOOK, WANTS_TO_BE_FIRST);
  assertLines(printed, ['passed: true', '# tests 4', '# pass 4', '# unstable 0']);
  for (const at of [0, 1, 2, 3])
    assert.equal(
      printed.filter((line) => line.startsWith(`ok     src/layer/${at}.test.ts  1 tests`)).length,
      1,
    );
  assert.equal(printed.filter((line) => /^ok .*layer-1\.test\.mjs {2}3 tests/.test(line)).length, 1);
});

test('a broken file does not hide in a batch', () => {
  for (const [name, body] of Object.entries({ FAILS, BREAKS_OFF })) {
    const printed = runRound(name, PASSES, body, PASSES);
    assertLines(printed, ['passed: false', '# pass 2', '# unstable 0']);
    assert.ok(printed.some((line) => line.startsWith('FAILED src/layer/1.test.ts')));
  }
});

test('files that only fail together are unstable', () => {
  const printed = runRound('together', WANTS_TO_BE_FIRST, WANTS_TO_BE_FIRST);
  assertLines(printed, ['passed: true', '# tests 2', '# pass 2', '# unstable 1']);
});
