import { relative } from 'node:path';

const HEAVIEST_FILES_SHOWN = 40;

/** The result of one stage of the checks. */
export interface Outcome {
  readonly name: string;
  readonly ok: boolean;
  readonly duration_ms: number;
  /** The information needed to fix the failure; empty if the stage passed. */
  readonly output: string;
  readonly counts: Counts;
  /** The checks that could not run, by name and reason. */
  readonly skipped: readonly string[];
  /** Each test file, if the stage runs test files. */
  readonly files?: readonly FileOutcome[];
}

/** The result of one test file. */
export interface FileOutcome {
  /** Absolute name. Empty for failures that the test runner attributes to no file. */
  readonly file: string;
  readonly ok: boolean;
  readonly counts: Counts;
  readonly duration_ms: number;
  /** Seconds of the file and its programs; 0 where they cannot be measured. */
  readonly processor_s?: number;
  /** The failures of a failed file; else the end of what the file printed. */
  readonly output: string;
  /** `true` if the file failed, and passed when it ran again. */
  readonly is_unstable?: boolean;
}

/** Counts of tests, not files. A check that is not a test counts as one. */
export interface Counts {
  readonly tests: number;
  readonly passed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly skipped: number;
  readonly todo: number;
}

export function sumCounts(all: readonly Counts[]): Counts {
  const total = (field: keyof Counts) => all.reduce((count, each) => count + each[field], 0);
  return {
    tests: total('tests'),
    passed: total('passed'),
    failed: total('failed'),
    cancelled: total('cancelled'),
    skipped: total('skipped'),
    todo: total('todo'),
  };
}

/**
 * Returns whether the run passed. A skipped check is fine on a developer's machine and a failure in CI. A run
 * without any check never passes.
 */
export function judgeOutcomes(outcomes: readonly Outcome[], inCi: boolean): { ok: boolean; reason: string } {
  const failed = outcomes.filter((each) => !each.ok).map((each) => each.name);
  if (failed.length > 0) return { ok: false, reason: `failed: ${failed.join(', ')}` };
  const empty = outcomes.filter((each) => each.counts.tests === 0).map((each) => each.name);
  if (empty.length > 0) return { ok: false, reason: `nothing ran in: ${empty.join(', ')}` };
  const skipped = outcomes.flatMap((each) => each.skipped);
  if (skipped.length === 0) return { ok: true, reason: 'all well' };
  const reason = `${skipped.length} skipped`;
  return inCi ? { ok: false, reason: `${reason}, and in CI nothing may be` } : { ok: true, reason };
}

/**
 * Returns the summary: a line per stage, the files that took most processor time, the skipped checks, and the totals in the format of Node's test
 * runner.
 */
export function getSummary(outcomes: readonly Outcome[], durationMs: number): string {
  const counts = sumCounts(outcomes.map((each) => each.counts));
  const stages = outcomes.map(
    (each) =>
      `${each.ok ? 'ok    ' : 'FAILED'} ${each.name.padEnd(24)} ${`${each.counts.tests}`.padStart(6)} ${formatSeconds(each.duration_ms).padStart(9)}`,
  );
  const skipped = outcomes.flatMap((each) => each.skipped.map((line) => `skipped: ${line}`));
  const unstable = listUnstableFiles(outcomes).map(({ file }) => `unstable: ${formatPath(file)}`);
  const totals = [
    `# tests ${counts.tests}`,
    `# pass ${counts.passed}`,
    `# fail ${counts.failed}`,
    `# cancelled ${counts.cancelled}`,
    `# skipped ${counts.skipped}`,
    `# todo ${counts.todo}`,
    `# unstable ${unstable.length}`,
    `# duration_ms ${Math.round(durationMs)}`,
  ];
  return [...stages, ...listHeaviestFiles(outcomes), ...skipped, ...unstable, ...totals].join('\n');
}

function listHeaviestFiles(outcomes: readonly Outcome[]): string[] {
  return outcomes
    .flatMap(({ files = [] }) => files)
    .sort((one, other) => (other.processor_s ?? 0) - (one.processor_s ?? 0))
    .slice(0, HEAVIEST_FILES_SHOWN)
    .map(
      ({ file, duration_ms, processor_s = 0 }) =>
        `heaviest: ${processor_s.toFixed(1).padStart(6)} s of processor time, ${formatSeconds(duration_ms)}  ${formatPath(file)}`,
    );
}

export function listUnstableFiles(outcomes: readonly Outcome[]): readonly FileOutcome[] {
  return outcomes.flatMap(({ files = [] }) => files.filter(({ is_unstable }) => is_unstable === true));
}

export function formatPath(file: string): string {
  return relative(process.cwd(), file);
}

export function formatSeconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
