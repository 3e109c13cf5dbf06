/**
 * Measures the most costly text of each reader: every construct of `src/core/testing/constructs.ts`, repeated or nested.
 * Milliseconds are compared with `JSON.parse` of the records in `records.jsonl` in the same run.
 * `node benchmarks/detection/costly-texts.ts [units]`
 */
import { readFileSync } from 'node:fs';
import { getStepsTaken } from '../../src/core/steps.ts';
import { buildNested } from '../../src/core/testing/constructs.ts';
import { READERS } from '../../src/core/testing/readers.ts';
import { median } from '../measure.ts';

const UNITS = Number(process.argv[2] ?? 100_000);
const ROUNDS = 5;

function measureMs(run: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return median(times);
}

function countSteps(run: () => unknown): number {
  const before = getStepsTaken();
  run();
  return getStepsTaken() - before;
}

const records = readFileSync(new URL('records.jsonl', import.meta.url), 'utf8').split('\n');
const array = `[${records.filter((line) => line !== '').join(',')}]`;
const baseline = measureMs(() => JSON.parse(array)) / array.length;
console.log(`JSON.parse: ${(baseline * 1024).toFixed(4)} ms per KB`);
for (const [name, { read, constructs }] of Object.entries(READERS)) {
  const costs = constructs.map((construct) => {
    const text = buildNested([construct], UNITS);
    return { construct, text, steps: countSteps(() => read(text)) };
  });
  const { construct, text, steps } = costs.reduce((worst, each) => (each.steps > worst.steps ? each : worst));
  const ms = measureMs(() => read(text));
  const ratio = ms / (baseline * text.length);
  console.log(
    `${name}: ${JSON.stringify(construct)} ${text.length} units, ${steps} steps, ${((ms / text.length) * 1024).toFixed(2)} ms per KB, ${ratio.toFixed(0)} times JSON.parse`,
  );
}
