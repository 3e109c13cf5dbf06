import assert from 'node:assert/strict';
import { Session } from 'node:inspector';
import { test } from 'node:test';
import type { Construct } from './testing/constructs.ts';
import type { Reader } from './testing/readers.ts';

// Modules that are imported before are not counted.
const countBlocks = startCountingBlocks();
const { judge } = await import('./decision/judge.ts');
const { detect } = await import('./detect/detect.ts');
const { READERS } = await import('./testing/readers.ts');
const { buildNested } = await import('./testing/constructs.ts');
const { createRandom } = await import('./testing/hostile-texts.ts');
const { buildTestCrossing, buildTestPolicy, DETECTION, POLICY_SETTINGS } = await import(
  './testing/policies.ts'
);
const { countSteps, getStepsTaken, STEP_LIMITS } = await import('./steps.ts');

/** Each case is tried with so many units, and with 2 and 8 times as many. It is longer than what readers look ahead. */
const UNITS = 8192;
/** The number of cases of each reader; `READER_CASES=all` tries every construct and every pair. */
const CASES =
  process.env.READER_CASES === 'all' ? Number.POSITIVE_INFINITY : Number(process.env.READER_CASES ?? 8);
/** Costs below it are those of a first call. */
const NOISE = 40_000;
/** The most blocks for each step. V8 takes 1 to 2 ns for a block, and a step is 5 ns. */
const BLOCKS_PER_STEP = 6;
const BLOCKS_PER_UNIT = 20;

interface Cost {
  readonly units: number;
  readonly steps: number;
  readonly blocks: number;
}

function measure({ read }: Reader, text: string): Cost {
  const before = getStepsTaken();
  const blocks = countBlocks(() => read(text));
  return { units: text.length, steps: getStepsTaken() - before, blocks };
}

/** Returns single constructs and pairs of them: all, or a sample that the seed decides. */
function* listCases(constructs: readonly Construct[]): Generator<readonly Construct[]> {
  if (CASES === Number.POSITIVE_INFINITY) {
    for (const one of constructs) yield [one];
    for (const one of constructs) for (const other of constructs) if (one !== other) yield [one, other];
    return;
  }
  const below = createRandom(2026);
  const pick = () => constructs[below(constructs.length)]!;
  for (let at = 0; at < CASES; at += 1) yield at % 2 === 0 ? [pick()] : [pick(), pick()];
}

/** Returns what is wrong with the growth of a cost; an empty list if nothing is. */
function findGrowth(once: Cost, more: Cost, growthMax: number): readonly string[] {
  return (['steps', 'blocks'] as const)
    .filter((kind) => more[kind] > growthMax * (more.units / once.units) * once[kind] + NOISE)
    .map((kind) => `${once[kind]} to ${more[kind]} ${kind}: ${more.units / once.units} times the text`);
}

function findProblems(
  reader: Reader,
  constructs: readonly Construct[],
  times: readonly number[] = [2],
): readonly string[] {
  const once = measure(reader, buildNested(constructs, UNITS));
  return times.flatMap((each) => {
    const more = measure(reader, buildNested(constructs, each * UNITS));
    return [...findGrowth(once, more, each === 2 ? 1.1 : 9 / 8), ...findExcess(more)];
  });
}

/** Returns the excess of a reader that takes more steps than it counts, or more than its content may take. */
function findExcess({ steps, blocks, units }: Cost): readonly string[] {
  const stepsMax = STEP_LIMITS.free + 3 * (units + 10) * STEP_LIMITS.per_unit;
  return [
    ...(blocks <= BLOCKS_PER_STEP * steps + BLOCKS_PER_UNIT * units + NOISE
      ? []
      : [`${blocks} blocks, but ${steps} steps`]),
    ...(steps <= 1.2 * stepsMax ? [] : [`${steps} steps for ${units} units`]),
  ];
}

for (const [name, reader] of Object.entries(READERS))
  test(`${name} take steps in proportion to their length`, () => {
    reader.read('rm -rf {a,b}*; echo $(a) # select 1 from a');
    let count = 0;
    for (const constructs of listCases(reader.constructs)) {
      count += 1;
      const times = CASES === Number.POSITIVE_INFINITY || count % 5 === 0 ? [2, 8] : [2];
      assert.deepEqual(findProblems(reader, constructs, times), [], JSON.stringify(constructs));
    }
    assert.ok(count >= Math.min(CASES, reader.constructs.length), `${count} cases`);
  });

test('a reader that reads the rest again is found out', () => {
  const readAgain = (text: string): void => {
    for (let at = 0; at < text.length; at += 16) countSteps(text.length - at);
  };
  const problems = findProblems({ read: readAgain, constructs: [] }, [{ open: 'a;', close: '' }]);
  assert.ok(problems.length > 0);
});

test('arguments with too many steps for their facts are blocked', () => {
  const policy = buildTestPolicy({
    rules: [{ name: 'sql', boundary: 'action', data_tags: ['sql.drop'], action: 'block' }],
    settings: { command_detection: { enabled: false } },
  });
  const value = { command: 'ts '.repeat(40_000) };
  const crossing = buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    tool: 'Bash',
    content: { kind: 'json', value },
  });
  const { decision, coverage } = judge(crossing, policy);
  assert.equal(decision, 'block');
  assert.match(
    coverage.status === 'partial' ? coverage.reason : '',
    /take more steps to read than are allowed/,
  );
});

test('many short commands share the steps of their content', () => {
  const value = Array.from({ length: 4000 }, (_, at) => ({ command: `rm {a,b}*{a,b}*{a,b}*{c,${at}}*` }));
  const before = getStepsTaken();
  const { coverage } = detect({ kind: 'json', value }, DETECTION, POLICY_SETTINGS.limits, { tool: 'Bash' });
  assert.equal(coverage.status, 'partial');
  const units = JSON.stringify(value).length;
  assert.ok(getStepsTaken() - before <= 1.1 * (STEP_LIMITS.free + units * STEP_LIMITS.per_unit));
});

/** Returns the number of blocks of `src/core` that a function executes. Blocks are counted by V8, so nothing is left out. */
type BlockCounter = (run: () => void) => number;

/** Starts to count blocks. Modules that are imported before are not counted. */
function startCountingBlocks(): BlockCounter {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const take = (): number => {
    let count = 0;
    session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      for (const { url, functions } of result)
        if (url.includes('/src/core/'))
          for (const { ranges } of functions) for (const range of ranges) count += range.count;
    });
    return count;
  };
  return (run) => {
    take();
    run();
    return take();
  };
}
