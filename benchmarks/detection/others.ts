/** Runs other scanners, Hyperscan and ripgrep, with the literals and anchors of our detectors. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Anchor, parseAnchor, type UnitSet } from '../../src/core/detect/matching/anchors.ts';
import type { Detector } from '../../src/core/detect/matching/detector.ts';
import { DETECTION } from '../../src/core/testing/policies.ts';

/** A pattern for Hyperscan. */
interface Expression {
  readonly source: string;
  readonly either_case: boolean;
}

/**
 * Shorter runs of fixed letters are in every text, and would make the other scanners slower than they are.
 */
const LITERAL_UNITS_MIN = 3;

/** Returns the longest run of fixed letters in each detector's anchors, without duplicates. */
export function getLiterals(detectors: readonly Detector[]): readonly string[] {
  const literals = getAnchors(detectors).map(({ sets }) => longestRun(sets.map(getLetter)));
  return [...new Set(literals)].filter((literal) => literal.length >= LITERAL_UNITS_MIN).sort();
}

function getAnchors(detectors: readonly Detector[]): readonly Anchor[] {
  return [...new Set(detectors.flatMap(({ anchors }) => anchors))].flatMap(parseAnchor);
}

/**
 * Returns the one letter of a set, in lower case if the set contains both cases; `null` for a set of several
 * letters.
 */
function getLetter(set: UnitSet): string | null {
  const units = set.flatMap(([low, high]) => (high - low > 1 ? [low, high, -1] : [...new Set([low, high])]));
  const letters = new Set(units.map((unit) => String.fromCharCode(Math.max(unit, 0)).toLowerCase()));
  const [letter = '\0'] = letters;
  return letters.size === 1 && letter > ' ' && letter <= '~' ? letter : null;
}

function longestRun(letters: readonly (string | null)[]): string {
  const runs = letters
    .map((letter) => letter ?? '\0')
    .join('')
    .split('\0');
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}

function literalExpression(literal: string): Expression {
  return { source: hex(literal), either_case: true };
}

function hex(text: string): string {
  return [...text].map((char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
}

/**
 * Returns the anchors as expressions over bytes. A unit beyond ASCII in a set becomes any byte from 0x80 on.
 */
function anchorExpressions(detectors: readonly Detector[]): readonly Expression[] {
  const sources = getAnchors(detectors).map(({ sets }) => sets.map(byteClass).join(''));
  return [...new Set(sources)].map((source) => ({ source, either_case: false }));
}

function byteClass(set: UnitSet): string {
  const code = (unit: number) => `\\x${Math.min(unit, 0xff).toString(16).padStart(2, '0')}`;
  const ranges = set.map(
    ([low, high]) => `${code(low > 0x7f ? 0x80 : low)}-${code(high > 0x7f ? 0xff : high)}`,
  );
  return `[${[...new Set(ranges)].join('')}]`;
}

/** Texts of one kind and size, and the file of each. */
export interface TextSet {
  readonly name: string;
  readonly size: number;
  readonly variants: readonly string[];
  readonly files: readonly string[];
}

/** Runs one round; returns the nanoseconds per byte for each text, by its name. */
export type Round = () => Promise<ReadonlyMap<string, number>>;

export interface Other {
  readonly name: string;
  readonly round: Round;
  readonly close: () => void;
}

/**
 * Returns Hyperscan on the literals and on the anchors. If it is not available, prints a sentence and returns
 * nothing.
 */
export async function hyperscans(
  detectors: readonly Detector[],
  texts: readonly TextSet[],
  scratch: string,
): Promise<readonly Other[]> {
  const program = join(scratch, 'hyperscan');
  const source = join(import.meta.dirname, 'hyperscan.c');
  const built = spawnSync('cc', ['-O2', '-o', program, source, '-lhs'], { encoding: 'utf8' });
  if (built.status !== 0) {
    console.log('Hyperscan is left out: it needs a C compiler and libhyperscan-dev.');
    return [];
  }
  const sets = {
    'Hyperscan, literals': getLiterals(detectors).map(literalExpression),
    'Hyperscan, anchors': anchorExpressions(detectors),
  };
  const others: Other[] = [];
  for (const [name, expressions] of Object.entries(sets)) {
    const file = join(scratch, `${others.length}.patterns`);
    const lines = expressions.map(({ source: each, either_case }) => `${either_case ? 'i' : '-'} ${each}`);
    writeFileSync(file, `${lines.join('\n')}\n`);
    others.push(await hyperscan(name, [program, file, ...texts.flatMap(({ files }) => files)], texts));
  }
  return others;
}

async function hyperscan(
  name: string,
  command: readonly string[],
  texts: readonly TextSet[],
): Promise<Other> {
  const child = spawn(command[0]!, command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = getLines(child);
  const count = await lines.next();
  console.log(`${name}: ${count.value} patterns`);
  return {
    name,
    round: async () => {
      child.stdin.write('round\n');
      const figures = String((await lines.next()).value)
        .trim()
        .split(' ');
      let at = 0;
      return new Map(
        texts.map(({ name: own, files }) => [own, mean(files.map(() => Number(figures[2 * at++])))]),
      );
    },
    close: () => child.stdin.end(),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

async function* getLines(child: ChildProcess): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of child.stdout!) {
    rest += String(chunk);
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      yield rest.slice(0, end);
      rest = rest.slice(end + 1);
    }
  }
  throw new Error('the program ended before it answered');
}

const RIPGREP_FILE_BYTES = 128 << 20;

/**
 * Returns `rg -F -f LITERALS` over the text, many times in one file, on one thread; its start-up time is
 * subtracted. The search is case-sensitive, which is faster. If `rg` is not available, prints a sentence and
 * returns nothing.
 */
export function ripgrep(detectors: readonly Detector[], text: TextSet, scratch: string): readonly Other[] {
  if (spawnSync('rg', ['--version']).status !== 0) {
    console.log('ripgrep is left out: there is no `rg`.');
    return [];
  }
  const [literals, large, empty] = ['literals', 'large.txt', 'empty.txt'].map((name) => join(scratch, name));
  writeFileSync(literals!, `${getLiterals(detectors).join('\n')}\n`);
  const [megabyte = ''] = text.variants;
  writeFileSync(large!, megabyte.repeat(RIPGREP_FILE_BYTES / megabyte.length));
  writeFileSync(empty!, '');
  const run = (file: string): number => {
    const from = performance.now();
    spawnSync('rg', ['-j1', '--no-config', '-c', '-F', '-f', literals!, file], { stdio: 'ignore' });
    return performance.now() - from;
  };
  const round: Round = async () =>
    new Map([[text.name, ((run(large!) - run(empty!)) * 1e6) / RIPGREP_FILE_BYTES]]);
  return [{ name: 'rg -F -f', round, close: () => {} }];
}

/**
 * Measures the microseconds of CPU of a start of Node, and of a start that loads the built detectors and
 * scans one text.
 */
export function startCpu(
  dist: string,
  text: string,
): { readonly bare_us: number; readonly loaded_us: number } {
  const program = `import { detect } from ${JSON.stringify(join(dist, 'core', 'detect.js'))};
    const limits = { text_bytes_max: 1e6, depth_max: 9, nodes_max: 1e4, findings_max: 99 };
    detect({ kind: 'text', text: ${JSON.stringify(text)} }, ${JSON.stringify(DETECTION)}, limits);`;
  return { bare_us: getCpu(''), loaded_us: getCpu(program) };
}

function getCpu(program: string): number {
  const tell = 'const { user, system } = process.cpuUsage(); console.log(user + system);';
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', `${program}\n${tell}`]));
}
