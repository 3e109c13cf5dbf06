/**
 * Measures the speed of scans with all detectors on one thread. It is compared with `JSON.parse` of the same
 * number of bytes of the ordinary records in `records.jsonl`, with Hyperscan and `rg -F -f` with the same
 * literals, and with a thousand more detectors. It also measures how much the detectors add to a start of
 * Node. Ratios are medians over interleaved rounds.
 * `node benchmarks/detection/speed.ts [--quick|--start]`
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { detect } from '../../src/core/detect/detect.ts';
import { allDetectors } from '../../src/core/detect/detectors/all.ts';
import type { Match } from '../../src/core/detect/matching/compiled-detector.ts';
import type { Detector } from '../../src/core/detect/matching/detector.ts';
import { compileScanner, type Scanner, scanText } from '../../src/core/detect/matching/scanner.ts';
import { parseDetection } from '../../src/core/policy/compile/detection.ts';
import { parseNamedDetection } from '../../src/core/policy/compile/named-detection.ts';
import { DETECTION, DETECTION_SETTINGS } from '../../src/core/testing/policies.ts';
import type { DocumentProblem, ScanLimits } from '../../src/core/types/index.ts';
import { median, spread } from '../measure.ts';
import { hyperscans, type Other, ripgrep, startCpu, type TextSet } from './others.ts';
import { dirtyText, FINDING_EVERY_BYTES, mixedText, recordsText, wideText } from './texts.ts';

const isQuick = process.argv.includes('--quick');
const SIZES = isQuick ? [1024, 102_400] : [200, 1024, 10_240, 102_400, 1_048_576];
const ROUNDS = isQuick ? 5 : 9;
const WARM_ROUNDS = 2;
const VARIANTS_MAX = 16;
const VARIANTS_BYTES_MAX = 100_000;
const SLICES = 4;
const BYTES_PER_SLICE = 1 << 20;
const MORE_DETECTORS = 1000;
const START_ROUNDS = 15;
const FIRST_LOOK_BYTES = 4096;
const LIMITS: ScanLimits = {
  text_bytes_max: 8 << 20,
  depth_max: 100,
  nodes_max: 1 << 20,
  findings_max: 10_000,
};
const BASELINE = 'JSON.parse';

const kinds: Readonly<Record<string, (bytes: number, seed: number) => string>> = {
  records: recordsText,
  mixed: mixedText,
  wide: wideText,
  dirty: dirtyText,
};
const CLEAN = ['records', 'mixed', 'wide'];

/**
 * Returns a detector of a vendor's tokens, as a user adds them: a prefix of its own, and a bounded pattern.
 */
function detectorNamed(name: string): Detector {
  return {
    id: `more.${name}`,
    detector: 'api_key',
    tags: ['secret.credential'],
    severity: 'high',
    strength: 'proof',
    description: 'One of a thousand for the benchmark.',
    anchors: [`\\b${name}_`],
    pattern: new RegExp(`${name}_[A-Za-z0-9]{24,40}`),
    examples: { hits: [], misses: [] },
  };
}

/** Returns detectors with distinct prefixes of three to six letters, as vendors have them. */
function moreDetectors(): readonly Detector[] {
  const names = new Set<string>();
  for (let state = 1; names.size < MORE_DETECTORS; ) {
    let name = '';
    const length = 3 + (names.size % 4);
    while (name.length < length) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      name += 'abcdefghijklmnopqrstuvwxyz'[(state >>> 16) % 26];
    }
    names.add(name);
  }
  return [...names].map(detectorNamed);
}

/** Returns the microseconds of CPU that this thread has used. */
function cpuUs(): number {
  // The kernel updates the thread's figure in ticks; a query for the whole process brings it up to date.
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/**
 * Returns nanoseconds of CPU per byte: the best of some slices, so that other programs on the machine matter
 * little.
 */
function perByte(look: (text: string) => unknown, texts: readonly string[]): number {
  const bytes = texts.reduce((sum, { length }) => sum + length, 0);
  const times = Math.max(1, Math.round(BYTES_PER_SLICE / bytes));
  let bestUs = Number.POSITIVE_INFINITY;
  for (let slice = 0; slice < SLICES; slice++) {
    const from = cpuUs();
    for (let at = 0; at < times; at++) for (const text of texts) look(text);
    bestUs = Math.min(bestUs, cpuUs() - from);
  }
  return (bestUs * 1000) / (times * bytes);
}

function findings(text: string): number {
  return detect({ kind: 'text', text }, DETECTION, LIMITS).findings.length;
}

/** Returns `detect` with the thousand detectors as patterns of the configuration. */
function detectWithMore(): (text: string) => unknown {
  const patterns = moreDetectors().map(({ id, detector, tags, severity, description, pattern, anchors }) => {
    const token = `${anchors[0]!.slice(2)}${'a1'.repeat(12)}`;
    return {
      id,
      detector,
      tags,
      severity,
      description,
      pattern: pattern.source,
      examples: { hits: [token], misses: [] },
    };
  });
  const problems: DocumentProblem[] = [];
  const detection = { ...DETECTION_SETTINGS.detection, patterns };
  const more = parseDetection(
    { ...DETECTION_SETTINGS, detection },
    'service.yaml',
    problems,
    parseNamedDetection,
  );
  assert.deepEqual(problems, []);
  return (text) => detect({ kind: 'text', text }, more, LIMITS);
}

function scanWith(scanner: Scanner): (text: string) => unknown {
  return (text) => {
    const matches: Match[] = [];
    scanText(scanner, text, matches, LIMITS.findings_max);
    return matches;
  };
}

/** All figures of one kind: subject and text, with the figure of each round. */
type Figures = Map<string, number[]>;

function add(figures: Figures, key: string, ns: number): void {
  const list = figures.get(key) ?? [];
  list.push(ns);
  figures.set(key, list);
}

/** Returns a text as one piece of memory, as it comes from a socket, and not as a slice or concatenation. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}

function isMade(kind: string, size: number): boolean {
  return kind !== 'dirty' || size >= 2 * FINDING_EVERY_BYTES;
}

/**
 * Returns several texts of one size, so that one unusual text matters little and the processor cannot learn a
 * text.
 */
function variants(make: (bytes: number, seed: number) => string, size: number): readonly string[] {
  const count = Math.min(VARIANTS_MAX, Math.ceil(VARIANTS_BYTES_MAX / size));
  return Array.from({ length: count }, (_, seed) => flat(make(size, seed)));
}

function makeTexts(scratch: string): readonly TextSet[] {
  return SIZES.flatMap((size) =>
    Object.entries(kinds)
      .filter(([kind]) => isMade(kind, size))
      .map(([kind, make]) => {
        const name = `${kind} ${size}`;
        const own = variants(make, size);
        for (const text of own) checkText(kind, text, size);
        const files = own.map((text, at) => {
          const file = join(scratch, `${kind}-${size}-${at}.txt`);
          writeFileSync(file, text);
          return file;
        });
        return { name, size, variants: own, files };
      }),
  );
}

/**
 * Checks the texts that are measured: a clean text has no finding, and a dirty text has the inserted ones.
 */
function checkText(kind: string, text: string, size: number): void {
  assert.equal(text.length, size);
  const count = findings(text);
  if (CLEAN.includes(kind)) assert.equal(count, 0, `the ${kind} text must be clean`);
  else assert.ok(count >= Math.floor(size / FINDING_EVERY_BYTES), `a ${kind} text has ${count} findings`);
}

async function measure(texts: readonly TextSet[], others: readonly Other[]): Promise<Figures> {
  const figures: Figures = new Map();
  const baseline = new Map(SIZES.map((size) => [size, variants(recordsText, size)]));
  const scanners = {
    scan: scanWith(compileScanner(allDetectors)),
    'scan + more': scanWith(compileScanner([...allDetectors, ...moreDetectors()])),
    'detect + more': detectWithMore(),
  };
  for (let at = 0; at < ROUNDS + WARM_ROUNDS; at++) {
    const round = at < WARM_ROUNDS ? new Map() : figures;
    for (const { name, size, variants: own } of texts) {
      const records = baseline.get(size)!;
      add(round, `${BASELINE} ${name}`, perByte(JSON.parse, records));
      add(round, `detect ${name}`, perByte(findings, own));
      for (const [subject, look] of Object.entries(scanners))
        add(round, `${subject} ${name}`, perByte(look, own));
    }
    for (const other of others)
      for (const [name, ns] of await other.round()) add(round, `${other.name} ${name}`, ns);
  }
  return figures;
}

/** Returns, for each round, how many times faster `a` is than `b`. */
function ratios(figures: Figures, a: string, b: string): readonly number[] {
  const other = figures.get(b)!;
  return figures.get(a)!.map((ns, at) => other[at]! / ns);
}

function speed(figures: Figures, key: string): string {
  return `${(1000 / median(figures.get(key)!)).toFixed(0)} MB/s`;
}

function report(figures: Figures, others: readonly Other[]): void {
  for (const kind of Object.keys(kinds)) {
    console.log(
      `\n${kind}: speed, and times as fast as ${BASELINE} of as many bytes of records (lowest to highest)`,
    );
    for (const size of SIZES.filter((each) => isMade(kind, each))) {
      const name = `${kind} ${size}`;
      const own = spread(ratios(figures, `detect ${name}`, `${BASELINE} ${name}`));
      const parts = others
        .filter((other) => figures.has(`${other.name} ${name}`))
        .map((other) => `${other.name} ${speed(figures, `${other.name} ${name}`)}`);
      const parse = `${BASELINE} ${speed(figures, `${BASELINE} ${name}`)}`;
      console.log(
        `${String(size).padStart(9)} B  ${speed(figures, `detect ${name}`).padStart(9)}  ${own}   ${[parse, ...parts].join(', ')}`,
      );
    }
  }
  console.log('\ndirty text takes so many times as long as clean mixed text');
  for (const size of SIZES.filter((each) => isMade('dirty', each)))
    console.log(
      `${String(size).padStart(9)} B  ${spread(ratios(figures, `detect mixed ${size}`, `detect dirty ${size}`))}`,
    );
  console.log(
    `\nwith ${MORE_DETECTORS} detectors more, a scan of clean text takes so many times as long: built in, and configured`,
  );
  for (const kind of CLEAN)
    for (const size of SIZES) {
      const builtIn = spread(ratios(figures, `scan ${kind} ${size}`, `scan + more ${kind} ${size}`));
      const configured = spread(ratios(figures, `detect ${kind} ${size}`, `detect + more ${kind} ${size}`));
      console.log(`${String(size).padStart(9)} B  ${builtIn}  ${configured}  ${kind}`);
    }
}

/** Builds the published program, and compares its start with that of a bare Node. */
function reportStart(): void {
  const root = resolve(import.meta.dirname, '..', '..');
  const built = spawnSync(process.execPath, [join(root, 'scripts/build/main.ts')], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the build failed:\n${built.stdout}${built.stderr}`);
  const dirty = dirtyText(FIRST_LOOK_BYTES, 1);
  const looks = {
    'a greeting': 'good morning',
    'mixed text': mixedText(FIRST_LOOK_BYTES, 1),
    'dirty text': dirty,
  };
  console.log('\nloading the detectors and a first look add so many starts of Node, in CPU');
  for (const [name, text] of Object.entries(looks)) {
    const starts = Array.from({ length: START_ROUNDS }, () => startCpu(join(root, 'dist'), text));
    const added = starts.map(({ bare_us, loaded_us }) => (loaded_us - bare_us) / bare_us);
    const bareMs = median(starts.map(({ bare_us }) => bare_us)) / 1000;
    console.log(`${spread(added)}  at ${name} of ${text.length} bytes (a start: ${bareMs.toFixed(0)} ms)`);
  }
}

async function main(): Promise<void> {
  if (process.argv.includes('--start')) return reportStart();
  const scratch = mkdtempSync(join(tmpdir(), 'speed-'));
  try {
    const texts = makeTexts(scratch);
    console.log(`node ${process.version}, ${allDetectors.length} detectors, ${ROUNDS} interleaved rounds`);
    const others = [
      ...(await hyperscans(allDetectors, texts, scratch)),
      ...ripgrep(allDetectors, texts.find(({ name }) => name === `mixed ${SIZES.at(-1)}`)!, scratch),
    ];
    const figures = await measure(texts, others);
    for (const other of others) other.close();
    report(figures, others);
    if (!isQuick) reportStart();
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

await main();
