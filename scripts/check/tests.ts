import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import { type Counts, type Outcome, seconds, sum } from './outcome.ts';

/** The timeout of a test file. No file should need a tenth of it. */
const FILE_MS_MAX = 10 * 60_000;
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
  let ok = files.length > 0;
  const events = run({
    files: [...files],
    execArgv: [...flags],
    concurrency: Math.max(2, availableParallelism()),
    timeout: FILE_MS_MAX,
  });
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') keep(printed, data.file, data.message);
    if (type === 'test:pass' && data.skip !== undefined)
      skipped.push(`${data.name}: ${getReason(data.skip)}`);
    if (type === 'test:pass' && data.todo !== undefined)
      failures.push(`${getPlace(data)}\n  is marked as still to do`);
    if (type === 'test:diagnostic' && data.message.startsWith('laws: ')) say(`       ${data.message}`);
    if (type === 'test:fail') failures.push(...getFailure(data, printed));
    if (type !== 'test:summary') continue;
    if (data.file === undefined) ok &&= data.success;
    else {
      counts.push(getCounts(data.counts));
      const mark = data.success ? 'ok    ' : 'FAILED';
      say(`${mark} ${shown(data.file)}  ${data.counts.tests} tests, ${seconds(data.duration_ms)}`);
    }
  }
  ok &&= failures.length === 0;
  const duration_ms = performance.now() - began_ms;
  return { name, ok, duration_ms, output: failures.join('\n\n'), counts: sum(counts), skipped };
}

interface TestResult {
  readonly name: string;
  readonly file?: string;
  readonly line?: number;
  readonly details: { readonly error?: Error };
}

function getFailure(data: TestResult, printed: ReadonlyMap<string, string>): string[] {
  const error = data.details.error as (Error & { failureType?: string; cause?: unknown }) | undefined;
  // Its failing subtests have been reported already.
  if (error?.failureType === 'subtestsFailed') return [];
  const cause = withoutNode(inspect(error?.cause ?? error, { depth: 4, breakLength: 110 }));
  const said = (printed.get(data.file ?? '') ?? '').slice(-PRINTED_CHARACTERS_MAX).trim();
  return [`${getPlace(data)}\n${indented(cause)}${said === '' ? '' : `\n  it printed:\n${indented(said)}`}`];
}

/** Removes stack frames inside Node, which do not help to find a fault in this code. */
function withoutNode(text: string): string {
  return text.replaceAll(/^ +at .*[( ]node:internal.*\n?/gm, '');
}

function getPlace(data: TestResult): string {
  return `FAILED ${data.file === undefined ? '' : `${shown(data.file)}:${data.line ?? 1} `}${data.name}`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}

function keep(printed: Map<string, string>, file: string | undefined, message: string): void {
  printed.set(file ?? '', `${printed.get(file ?? '') ?? ''}${message}`.slice(-2 * PRINTED_CHARACTERS_MAX));
}

function getReason(skip: string | boolean): string {
  return typeof skip === 'string' && skip !== '' ? skip : 'no reason given';
}

function shown(file: string): string {
  return relative(process.cwd(), file);
}

function getCounts(given: Omit<Counts, 'failed'>): Counts {
  const { tests, passed, cancelled, skipped, todo } = given;
  return { tests, passed, failed: tests - passed - cancelled - skipped - todo, cancelled, skipped, todo };
}
