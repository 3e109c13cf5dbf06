import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import { type Counts, formatSeconds, type Outcome, sumCounts } from './outcome.ts';

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
  const began_ms = performance.now();
  const failures: string[] = [];
  const skipped: string[] = [];
  const printed = new Map<string, string>();
  const counts: Counts[] = [];
  const unfinished = new Set(files);
  let ok = files.length > 0;
  const events = run({
    files: [...files],
    execArgv: ['--import', import.meta.resolve('./deadline.ts'), ...flags],
    concurrency: Math.max(2, availableParallelism()),
  });
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') keepOutput(printed, data.file, data.message);
    if (type === 'test:pass' && data.skip !== undefined)
      skipped.push(`${data.name}: ${getReason(data.skip)}`);
    if (type === 'test:pass' && data.todo !== undefined)
      failures.push(`${getPlace(data)}\n  is marked as still to do`);
    if (type === 'test:diagnostic' && data.message.startsWith('laws: ')) say(`       ${data.message}`);
    if (type === 'test:fail') failures.push(...getFailure(data, printed));
    if (type !== 'test:summary') continue;
    if (data.file === undefined) ok &&= data.success;
    else {
      unfinished.delete(data.file);
      counts.push(getCounts(data.counts));
      const mark = data.success ? 'ok    ' : 'FAILED';
      say(`${mark} ${formatPath(data.file)}  ${data.counts.tests} tests, ${formatSeconds(data.duration_ms)}`);
    }
  }
  for (const file of unfinished)
    failures.push(`FAILED ${formatPath(file)}\n  ended without a summary of its tests`);
  ok &&= failures.length === 0;
  const duration_ms = performance.now() - began_ms;
  return { name, ok, duration_ms, output: failures.join('\n\n'), counts: sumCounts(counts), skipped };
}

interface TestResult {
  readonly name: string;
  readonly file?: string;
  readonly line?: number;
  readonly details: { readonly error?: Error };
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

function formatPath(file: string): string {
  return relative(process.cwd(), file);
}

function getCounts(given: Omit<Counts, 'failed'>): Counts {
  const { tests, passed, cancelled, skipped, todo } = given;
  return { tests, passed, failed: tests - passed - cancelled - skipped - todo, cancelled, skipped, todo };
}
