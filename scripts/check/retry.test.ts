import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type FileOutcome, sumCounts } from './outcome.ts';
import { retryFailedFiles } from './retry.ts';

const PASSES = "test('works', () => console.log('fine'));";
const FAILS = "test('works', () => { throw new Error('still broken'); });";
const ENDS = 'process.exit(1);';
/** Fails in the first process only. */
const FAILS_ONCE = `test('works', () => {
  const marker = import.meta.filename + '.ran';
  if (existsSync(marker)) return console.log('fine now');
  writeFileSync(marker, '');
  throw new Error('broken once');
});`;

/** The program of a round. It runs as a separate process, because a test cannot run test files. */
const ROUND = `
  import { getSummary, judgeOutcomes } from '${import.meta.resolve('./outcome.ts')}';
  import { retryFailedFiles } from '${import.meta.resolve('./retry.ts')}';
  import { checkByTests } from '${import.meta.resolve('./tests.ts')}';
  const check = (files) => checkByTests('all', files, () => {});
  const outcomes = await retryFailedFiles(
    [await check(process.argv.slice(2))],
    (file) => check([file]),
    console.log,
  );
  console.log(getSummary(outcomes, 1));
  console.log(outcomes[0].output);
  console.log('passed: ' + judgeOutcomes(outcomes, true).ok);`;

/** Runs real test files as a round does, and returns what the round printed. */
function runRound(...bodies: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'retry-'));
  const files = bodies.map((body, at) => {
    const file = join(folder, `${at}.test.ts`);
    const head = "import { test } from 'node:test';\nimport { existsSync, writeFileSync } from 'node:fs';\n";
    writeFileSync(file, `${head}${body}`);
    return file;
  });
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const program = join(folder, 'round.mjs');
  writeFileSync(program, ROUND);
  return execFileSync(process.execPath, [program, ...files], { encoding: 'utf8', env });
}

test('a file that passes when run again is unstable', () => {
  const printed = runRound(PASSES, FAILS_ONCE);
  assert.match(printed, /^passed: true$/m);
  assert.match(
    printed,
    /^unstable: .*1\.test\.ts\n.*first run:.*broken once.*second run:.*fine now.*^unstable: .*1\.test\.ts$/ms,
  );
  for (const line of ['# tests 2', '# pass 2', '# fail 0', '# unstable 1'])
    assert.ok(printed.split('\n').includes(line), line);
});

test('a file that fails twice fails the round', () => {
  for (const body of [FAILS, ENDS]) {
    const printed = runRound(FAILS_ONCE, body);
    assert.match(printed, /^passed: false$/m);
    assert.match(printed, /^# unstable 1$/m);
    assert.match(printed, /first run:.*1\.test\.ts.*second run:.*1\.test\.ts/s);
  }
});

test('more than three failed files fail the round', () => {
  assert.match(runRound(FAILS_ONCE, FAILS_ONCE, FAILS_ONCE), /^passed: true$/m);
  const printed = runRound(FAILS_ONCE, FAILS_ONCE, FAILS_ONCE, FAILS_ONCE);
  assert.match(printed, /^4 test files failed/m);
  assert.match(printed, /^passed: false$/m);
});

test('a failure without a file fails the round', async () => {
  const build = (file: string, ok: boolean): FileOutcome => ({
    file,
    ok,
    counts: sumCounts([]),
    duration_ms: 1,
    output: file,
  });
  const stage = (files: readonly FileOutcome[]) => {
    const ok = files.every((each) => each.ok);
    return { name: 'all', ok, duration_ms: 1, output: '', counts: sumCounts([]), skipped: [], files };
  };
  const first = stage([build('/flaky.test.ts', false), build('', false)]);
  const again = (file: string) => Promise.resolve(stage([build(file, true)]));
  const [outcome] = await retryFailedFiles([first], again, () => {});
  assert.equal(outcome!.ok, false);
});
