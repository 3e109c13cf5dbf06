/**
 * Measures how much of a streamed text is held back, and the cost compared with one scan of the whole text.
 * The texts are the documentation of this project, the phrases in the examples, and code. Held units are
 * counted in pieces of one unit; CPU time is measured in pieces of the size that models send.
 * `node benchmarks/stream/run.ts`
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { judge, openStream } from '../../src/core/index.ts';
import { buildTestCrossing, buildTestPolicy } from '../../src/core/testing/policies.ts';
import { median, spread } from '../measure.ts';

const ROOT = join(import.meta.dirname, '../..');
const ROUNDS = 7;
/** The units of a piece, for pieces of one to four tokens. */
const PIECE_UNITS = [4, 12, 24];
/** Personal data is allowed, so that the output has the length of the input; it is held back all the same. */
const policy = buildTestPolicy({
  rules: [{ name: 'all', boundary: 'output', data_tags: ['secret', 'personal'], action: 'flag' }],
});
const crossing = buildTestCrossing({ boundary: 'output' });

function textsIn(folder: string, ending: string): string {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(ending));
  return names.map((name) => readFileSync(join(ROOT, folder, name), 'utf8')).join('\n');
}

const TEXTS: Readonly<Record<string, string>> = {
  prose: textsIn('docs', '.md')
    .replace(/^[|#`{}].*$/gm, '')
    .slice(0, 100_000),
  'markdown with tables and code': textsIn('docs', '.md').slice(0, 100_000),
  code: textsIn('src/core', '.ts').slice(0, 100_000),
};

/** Returns the units that are held back after each piece. */
function heldAfterEach(text: string, units: number): number[] {
  const stream = openStream(policy, crossing);
  const held: number[] = [];
  let gone = 0;
  for (let at = 0; at < text.length; at += units) {
    const { text: released, decision } = stream.push(text.slice(at, at + units));
    if (decision === 'block') throw new Error('the text of the benchmark must not be blocked');
    gone += released.length;
    held.push(Math.min(at + units, text.length) - gone);
  }
  stream.end();
  return held;
}

function microseconds(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const share = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;

for (const [name, text] of Object.entries(TEXTS)) {
  const held = heldAfterEach(text, 1).sort((a, b) => a - b);
  const shares = [0.5, 0.9, 0.99, 1].map((part) => share(held, part));
  console.log(
    `${name}, ${text.length} units: held p50 ${shares[0]}, p90 ${shares[1]}, p99 ${shares[2]}, most ${shares[3]}`,
  );
  const whole = () => judge({ ...crossing, content: { kind: 'text', text } }, policy);
  for (const units of PIECE_UNITS) {
    const rounds = Array.from({ length: ROUNDS }, () => ({
      pieces: microseconds(() => heldAfterEach(text, units)),
      whole: microseconds(whole),
    }));
    const ratios = rounds.map(({ pieces, whole: one }) => pieces / one);
    const each = median(rounds.map(({ pieces }) => pieces)) / (text.length / units);
    console.log(`  pieces of ${units}: ${each.toFixed(1)} us a piece, ${spread(ratios, 1)} times the whole`);
  }
}
