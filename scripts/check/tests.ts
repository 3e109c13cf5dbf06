import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import { endSlowChildren } from './deadline.ts';
import {
  type Counts,
  type FileOutcome,
  formatPath,
  formatSeconds,
  type Outcome,
  sumCounts,
} from './outcome.ts';

/** Files that run besides one for each core, because those that start services or browsers mostly wait. */
const WAITING_FILES = 1;
/** The most characters that are shown of a failing file's output, from its end. */
const PRINTED_CHARACTERS_MAX = 4_000;

/**
 * Runs test files, each in a process of its own, and prints a line when each ends.
 * @param files - absolute names
 * @param flags - flags of Node for each process
 */
export async function checkByTests(
  name: string,
  files: readonly string[],
  say: (line: string) => void,
  flags: readonly string[] = [],
): Promise<Outcome> {
  const beganMs = performance.now();
  const failures = new Map<string, string[]>();
  const skipped: string[] = [];
  const printed = new Map<string, string>();
  const summaries = new Map<string, FileSummary>();
  const imported = new Map<string, FileSummary>();
  const addFailures = (file: string | undefined, found: readonly string[]): void => {
    if (found.length > 0) failures.set(file ?? '', [...(failures.get(file ?? '') ?? []), ...found]);
  };
  const times = openProcessorTimes();
  const stopDeadlines = endSlowChildren();
  const events = run({
    files: [...files],
    execArgv: ['--import', import.meta.resolve('./note-processor-time.ts'), ...flags],
    concurrency: availableParallelism() + WAITING_FILES,
  });
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') keepOutput(printed, data.file, data.message);
    if (type === 'test:pass' && data.skip !== undefined)
      skipped.push(`${data.name}: ${getReason(data.skip)}`);
    if (type === 'test:pass' && data.todo !== undefined)
      addFailures(data.file, [`${getPlace(data)}\n  is marked as still to do`]);
    if (type === 'test:diagnostic' && data.message.startsWith('laws: ')) say(`       ${data.message}`);
    if (type === 'test:fail') addFailures(data.file, getFailure(data, printed));
    if (type === 'test:pass' || type === 'test:fail')
      addImported(imported, files, data, type === 'test:pass');
    if (type !== 'test:summary' || data.file === undefined) continue;
    summaries.set(data.file, { counts: getCounts(data.counts), duration_ms: data.duration_ms });
    const mark = data.success ? 'ok    ' : 'FAILED';
    say(`${mark} ${formatPath(data.file)}  ${data.counts.tests} tests, ${formatSeconds(data.duration_ms)}`);
    if (!data.success && !failures.has(data.file))
      addFailures(data.file, [`FAILED ${formatPath(data.file)}\n  failed without naming a test`]);
  }
  for (const file of files)
    if (!summaries.has(file))
      addFailures(file, [`FAILED ${formatPath(file)}\n  ended without a summary of its tests`]);
  stopDeadlines();
  const processorS = times.close();
  return {
    name,
    ok: files.length > 0 && failures.size === 0,
    duration_ms: performance.now() - beganMs,
    output: [...failures.values()].flat().join('\n\n'),
    counts: sumCounts([...summaries.values()].map(({ counts }) => counts)),
    skipped,
    files: [...new Set([...files, ...imported.keys(), ...failures.keys()])].map((file) => ({
      ...buildFileOutcome(file, new Map([...imported, ...summaries]), failures, printed),
      processor_s: processorS.get(file) ?? 0,
    })),
  };
}

/** Opens the file to which each test file appends its processor time. `close` returns the seconds by test file. */
function openProcessorTimes(): { readonly close: () => ReadonlyMap<string, number> } {
  const folder = mkdtempSync(join(tmpdir(), 'processor-times-'));
  const path = join(folder, 'times');
  writeFileSync(path, '');
  process.env.PROCESSOR_TIMES = path;
  return {
    close: () => {
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
      rmSync(folder, { recursive: true });
      return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), Number.parseFloat(line)]));
    },
  };
}

type FileSummary = Pick<FileOutcome, 'counts' | 'duration_ms'>;

function buildFileOutcome(
  file: string,
  summaries: ReadonlyMap<string, FileSummary>,
  failures: ReadonlyMap<string, readonly string[]>,
  printed: ReadonlyMap<string, string>,
): FileOutcome {
  const failed = failures.get(file);
  return {
    file,
    ok: failed === undefined,
    ...(summaries.get(file) ?? { counts: sumCounts([]), duration_ms: 0 }),
    output: failed?.join('\n\n') ?? (printed.get(file) ?? '').slice(-PRINTED_CHARACTERS_MAX).trim(),
  };
}

interface TestResult {
  readonly name: string;
  readonly file?: string;
  readonly line?: number;
  readonly nesting: number;
  readonly skip?: string | boolean;
  readonly details: { readonly error?: Error; readonly duration_ms: number; readonly type?: string };
}

/** Counts the result of a test that a test file imported from another one. */
function addImported(
  imported: Map<string, FileSummary>,
  files: readonly string[],
  { file, skip, nesting, details }: TestResult,
  hasPassed: boolean,
): void {
  if (file === undefined || files.includes(file)) return;
  const before = imported.get(file) ?? { counts: sumCounts([]), duration_ms: 0 };
  const isSkipped = skip !== undefined;
  const one = details.type === 'suite' ? 0 : 1;
  const result = {
    ...{ tests: one, passed: hasPassed && !isSkipped ? one : 0, failed: hasPassed ? 0 : one },
    ...{ cancelled: 0, skipped: isSkipped ? one : 0, todo: 0 },
  };
  const durationMs = nesting === 0 ? details.duration_ms : 0;
  imported.set(file, {
    counts: sumCounts([before.counts, result]),
    duration_ms: before.duration_ms + durationMs,
  });
}

function getFailure(data: TestResult, printed: ReadonlyMap<string, string>): string[] {
  const error = data.details.error as
    | (Error & { failureType?: string; cause?: unknown; signal?: string | null })
    | undefined;
  // Its failing subtests have been reported already.
  if (error?.failureType === 'subtestsFailed') return [];
  const killed = error?.signal == null ? '' : `ended by ${error.signal}; \`deadline.ts\` ends slow files: `;
  const cause = `${killed}${removeNodeFrames(inspect(error?.cause ?? error, { depth: 4, breakLength: 110 }))}`;
  const said = (printed.get(data.file ?? '') ?? '').slice(-PRINTED_CHARACTERS_MAX).trim();
  return [
    `${getPlace(data)}\n${indentLines(cause)}${said === '' ? '' : `\n  it printed:\n${indentLines(said)}`}`,
  ];
}

/** Removes stack frames inside Node, which do not help to find a fault in this code. */
function removeNodeFrames(text: string): string {
  return text.replaceAll(/^ +at .*[( ]node:internal.*\n?/gm, '');
}

function getPlace(data: TestResult): string {
  return `FAILED ${data.file === undefined ? '' : `${formatPath(data.file)}:${data.line ?? 1} `}${data.name}`;
}

function indentLines(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}

function keepOutput(printed: Map<string, string>, file: string | undefined, message: string): void {
  printed.set(file ?? '', `${printed.get(file ?? '') ?? ''}${message}`.slice(-2 * PRINTED_CHARACTERS_MAX));
}

function getReason(skip: string | boolean): string {
  return typeof skip === 'string' && skip !== '' ? skip : 'no reason given';
}

function getCounts(given: Omit<Counts, 'failed'>): Counts {
  const { tests, passed, cancelled, skipped, todo } = given;
  return { tests, passed, failed: tests - passed - cancelled - skipped - todo, cancelled, skipped, todo };
}
