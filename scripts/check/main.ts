/**
 * `npm test`: runs everything that CI runs. With `--quick`, leaves out slow checks and installs nothing. With `NIGHTLY` in the
 * environment, runs the nightly tests too.
 */
import { existsSync, globSync, readFileSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { locateComponent } from '../components/components.ts';
import { checkInBatches } from './batches.ts';
import { checkByCommand, reportSkippedCheck } from './command.ts';
import { isInRound, type Round, sortHeaviestFirst } from './order.ts';
import { getSummary, judgeOutcomes, type Outcome } from './outcome.ts';
import { readProcessorSeconds } from './processor-time.ts';
import { retryFailedFiles } from './retry.ts';
import { checkByTests } from './tests.ts';

/** The end-to-end tests of the quick run: the whole service on real input, in a few seconds. */
const DAILY = ['examples', 'pinned', 'readme'];

/** The most characters that are repeated of a failed check's output, from its end. */
const REPEATED_CHARACTERS_MAX = 6_000;

const SHELL_SCRIPTS = [
  ...['service', 'scripts/run', 'scripts/launch.sh', '.ci/run'],
  ...['deploy/scan-files.sh', 'deploy/github-action/check.sh'],
];

/** Copies of the checkout with its packages take most of it. */
const MEMORY_BYTES_MIN = 8 * 2 ** 30;

const quick = process.argv.includes('--quick');
const round: Round = quick ? 'quick' : process.env.NIGHTLY === undefined ? 'full' : 'nightly';
const beganMs = performance.now();
const bin = (name: string) => [process.execPath, `node_modules/${getBinary(name)}`];

process.chdir(resolve(import.meta.dirname, '..', '..'));
useMemoryFolder();
const flags = quick ? [] : ['--import', import.meta.resolve('./fixed-seed.ts')];
const first: Outcome[] = [];
await Promise.all([
  runInTurn(listStaticStages()),
  runInTurn(listTypeStages()),
  installComponents().then(() => runInTurn([checkShell])),
]);
await runInTurn([runTests]);
const outcomes = quick
  ? first
  : await retryFailedFiles(first, (file) => checkByTests(file, [file], console.log, flags), console.log);
const verdict = judgeOutcomes(outcomes, process.env.CI === 'true' && !quick);
console.log(`\n${getSummary(outcomes, performance.now() - beganMs)}`);
console.log(
  `processor time: ${Math.round(readProcessorSeconds() ?? 0)} s on ${availableParallelism()} cores`,
);
console.log(verdict.reason);
// Once more at the end, where a reader of a long log begins.
for (const { ok, name, output } of outcomes)
  if (!ok) console.log(`\nFAILED ${name}\n${output.slice(-REPEATED_CHARACTERS_MAX)}`);
process.exitCode = verdict.ok ? 0 : 1;

/** Lets tests write to memory where there is enough, because their thousands of transactions wait for the disk. */
function useMemoryFolder(): void {
  const folder = '/dev/shm';
  if (process.env.TMPDIR !== undefined || !existsSync(folder)) return;
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const runsPrograms = mounts.some((line) => line.includes(` ${folder} tmpfs `) && !line.includes('noexec'));
  const { bavail, bsize } = statfsSync(folder);
  if (runsPrograms && bavail * bsize >= MEMORY_BYTES_MIN) process.env.TMPDIR = folder;
}

type Stage = () => Promise<Outcome>;

/** Runs the stages in order, and prints each result at once. */
async function runInTurn(stages: Iterable<Stage>): Promise<void> {
  for (const stage of stages) {
    const outcome = await stage();
    first.push(outcome);
    console.log(`${outcome.ok ? 'ok    ' : 'FAILED'} ${outcome.name}`);
    if (outcome.output !== '') console.log(`\n${outcome.output}\n`);
  }
}

/** Yields both compiler runs, which together take as long as all of `listStaticStages`. */
function* listTypeStages(): Generator<Stage> {
  // Each further checker reads the types that all files share again.
  const tsc = [...bin('typescript'), '--checkers', '1', '-p'];
  yield () => checkByCommand('types of core', [...tsc, 'src/core/tsconfig.json', '--noEmit']);
  yield () => checkByCommand('types', [...tsc, 'tsconfig.json']);
}

function* listStaticStages(): Generator<Stage> {
  yield () => checkByCommand('style', [...bin('@biomejs/biome'), 'ci', '--colors=off']);
  yield () => checkByCommand('nothing unused', bin('knip'));
  yield () => checkByCommand('tidy', [process.execPath, 'scripts/tidy/main.ts']);
  yield () => checkByCommand('prose', [process.execPath, 'scripts/prose/main.ts']);
  yield () => checkByCommand('generated files', [process.execPath, 'scripts/generate/main.ts', '--check']);
  yield () => checkByCommand('quality', [process.execPath, 'scripts/quality/main.ts', '--check']);
  yield bundleProgram;
  // Else the first hooks of the tests build it in their own eight seconds.
  yield () => checkByCommand('hook', [process.execPath, 'scripts/hook/main.ts']);
  if (!quick) yield () => checkByCommand('console', [process.execPath, 'scripts/console/main.ts', '--check']);
}

/** Installs what the tests need while the static checks run: it mostly waits for the network. */
async function installComponents(): Promise<void> {
  if (quick) return;
  const words = [process.execPath, 'scripts/components/main.ts'];
  const { output } = await checkByCommand('components', words);
  if (output !== '') console.log(output);
}

/** Builds the program as `./service` does. Tests start the bundle, in half the processor time that the sources need. */
async function bundleProgram(): Promise<Outcome> {
  const outcome = await checkByCommand('program', [process.execPath, 'scripts/program/main.ts']);
  const folder = resolve('node_modules/.cache/service-program');
  const built = outcome.ok
    ? /^program=([0-9a-f]+)$/m.exec(readFileSync(`${folder}/built.sh`, 'utf8'))?.[1]
    : undefined;
  if (built !== undefined) process.env.BUNDLED_PROGRAM = `${folder}/${built}/entry/cli/main.mjs`;
  return outcome;
}

/** Runs all test files in one queue, so that both cores have work until its end. */
function runTests(): Promise<Outcome> {
  const adjacent = listFiles('{cases,src,scripts}/**/*.test.ts');
  const whole = listFiles(quick ? `tests/{${DAILY.join(',')}}.test.ts` : 'tests/**/*.test.ts');
  const wanted = [...adjacent, ...whole].filter((file) => isInRound(file, round));
  const files = sortHeaviestFirst(wanted).map((file) => resolve(file));
  // Each file for itself shows that it needs no other; one of the rounds does.
  return (round === 'full' ? checkInBatches : checkByTests)('tests', files, console.log, flags);
}

function listFiles(pattern: string): string[] {
  return globSync(pattern, { exclude: ['**/node_modules/**'] }).sort();
}

async function checkShell(): Promise<Outcome> {
  const name = 'shell scripts';
  if (locateComponent('shellcheck') === null)
    return reportSkippedCheck(name, 'shellcheck is not installed (apt-get install shellcheck)');
  return checkByCommand(name, ['shellcheck', '-x', ...SHELL_SCRIPTS]);
}

/** Returns the command of a tool's main file, run by this Node and not by the first one in PATH. */
function getBinary(name: string): string {
  const { bin } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as {
    bin: string | Record<string, string>;
  };
  return `${name}/${typeof bin === 'string' ? bin : (bin.tsc ?? Object.values(bin)[0]!)}`;
}
