/** Measures the time to the first text of streams, compared with the disk's own `fdatasync`. */
import { execFileSync } from 'node:child_process';
import { closeSync, fdatasync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { median, spread } from '../measure.ts';
import type { Plan } from './plan.ts';
import { LOAD_CORE, startProvider, startTarget, type Target } from './targets.ts';

const CONCURRENCIES = [1, 16];
const STREAMS_PER_SECOND = 12;

/** Runs rounds of all targets in turn; prints the time that each adds to the first text of the provider. */
export async function firstText(plan: Plan): Promise<void> {
  const added = new Map<string, number[]>();
  const disk: number[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const provider = await startProvider();
    const direct = CONCURRENCIES.map((concurrency) => firstTextMs(provider, concurrency, plan));
    disk.push(await fdatasyncMedianMs(plan.scratch));
    for (const name of plan.targets) {
      const target = await startTarget(name, provider.port, plan.scratch);
      firstTextMs(target, 16, { ...plan, seconds: 1 });
      CONCURRENCIES.forEach((concurrency, at) => {
        const key = `${name.padEnd(8)} ${String(concurrency).padStart(2)} at a time`;
        const ms = firstTextMs(target, concurrency, plan) - direct[at]!;
        added.set(key, [...(added.get(key) ?? []), ms]);
      });
      await target.stop();
    }
    await provider.stop();
  }
  console.log("first text of a stream, added to the provider's own:");
  for (const [key, values] of added) console.log(`  ${key}: ${spread(values)} ms`);
  console.log(`  the disk's own fdatasync median: ${spread(disk)} ms (aim: 1 ms and one of these)`);
}

function firstTextMs({ url, headers }: Target, concurrency: number, { seconds }: Plan): number {
  const total = STREAMS_PER_SECOND * seconds * concurrency;
  return median(runStreams(url, { concurrency, total, pieces: 8, gap_ms: 5 }, headers).times);
}

export interface StreamLoad {
  readonly concurrency: number;
  readonly total: number;
  readonly pieces: number;
  readonly gap_ms: number;
}

/** Runs streams in their own process to their end. Throws if one fails. */
function runStreams(url: string, load: StreamLoad, headers: Target['headers']): { times: number[] } {
  const told = JSON.parse(
    execFileSync('taskset', streamsCommand(url, load, headers), { encoding: 'utf8' }),
  ) as {
    readonly times: number[];
    readonly errors: number;
    readonly first_error: string | null;
  };
  if (told.errors > 0) throw new Error(`${told.errors} streams failed: ${told.first_error}`);
  return told;
}

/** Returns the command that generates load with streams, as arguments of `taskset`. */
export function streamsCommand(url: string, load: StreamLoad, headers: Target['headers']): string[] {
  const { concurrency, total, pieces, gap_ms } = load;
  const numbers = [concurrency, total, pieces, gap_ms].map(String);
  const program = join(import.meta.dirname, 'streams.ts');
  return ['-c', LOAD_CORE, process.execPath, program, url, ...numbers, JSON.stringify(headers)];
}

/** Measures one small write with `fdatasync`. A thread waits for it, as in the service. */
async function fdatasyncMedianMs(scratch: string): Promise<number> {
  const sync = promisify(fdatasync);
  const fd = openSync(join(scratch, 'sync'), 'a');
  const times: number[] = [];
  for (let i = 0; i < 300; i++) {
    writeSync(fd, 'x'.repeat(900));
    const before = performance.now();
    await sync(fd);
    times.push(performance.now() - before);
  }
  closeSync(fd);
  return median(times);
}
