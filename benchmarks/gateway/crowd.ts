/** Measures a thousand concurrent streams on one core: the failures, and the memory of each stream. */
import { spawn } from 'node:child_process';
import { cpuUs, median } from '../measure.ts';
import { streamsCommand } from './first-text.ts';
import type { Plan } from './plan.ts';
import { residentKb, startProvider, startTarget, type Target } from './targets.ts';

const STREAMS = 1_000;
const LOOK_MS = 100;
/** The streams are long enough that all are open at the same time. */
const LOAD = { concurrency: STREAMS, total: STREAMS, pieces: 40, gap_ms: 250 };
const US_PER_S = 1_000_000;

export async function crowd(plan: Plan): Promise<void> {
  console.log(`${STREAMS} streams at once, ${LOAD.pieces} pieces each, ${LOAD.gap_ms} ms apart:`);
  for (const name of plan.targets) {
    const provider = await startProvider();
    const target = await startTarget(name, provider.port, plan.scratch);
    await getCrowd(target, { ...LOAD, concurrency: 20, total: 200, pieces: 2, gap_ms: 5 });
    const idleKb = residentKb(target.pid);
    const beforeUs = cpuUs(target.pid);
    const { peak_kb, errors, first_error, first_ms } = await getCrowd(target, LOAD);
    const cpuS = (cpuUs(target.pid) - beforeUs) / US_PER_S;
    const eachKb = (peak_kb - idleKb) / STREAMS;
    console.log(
      `  ${name.padEnd(8)} ${errors} errors${first_error === null ? '' : ` (${first_error})`}, ` +
        `${eachKb.toFixed(0)} KB for each stream, first text ${first_ms.toFixed(0)} ms, ${cpuS.toFixed(1)} s of processor`,
    );
    await target.stop();
    await provider.stop();
  }
}

interface Crowd {
  readonly peak_kb: number;
  readonly errors: number;
  readonly first_error: string | null;
  /** The median in milliseconds. */
  readonly first_ms: number;
}

async function getCrowd({ url, headers, pid }: Target, load: typeof LOAD): Promise<Crowd> {
  const child = spawn('taskset', streamsCommand(url, load, headers), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let peakKb = 0;
  const look = setInterval(() => {
    peakKb = Math.max(peakKb, residentKb(pid));
  }, LOOK_MS);
  let told = '';
  for await (const bytes of child.stdout) told += String(bytes);
  clearInterval(look);
  const { times, errors, first_error } = JSON.parse(told) as {
    readonly times: number[];
    readonly errors: number;
    readonly first_error: string | null;
  };
  return { peak_kb: peakKb, errors, first_error, first_ms: times.length === 0 ? Number.NaN : median(times) };
}
