/** Measures whole responses: added latency, and calls per second. */
import { cpuUs, type Load, load, median, spread } from '../measure.ts';
import type { Plan } from './plan.ts';
import { LOAD_CORE, type Name, startProvider, startTarget, type Target } from './targets.ts';
import { chatBody } from './texts.ts';

const CONNECTIONS = [1, 16, 64];
const US_PER_MS = 1_000;
/** The goal for our added latency as a share of Portkey's, for median and p99. */
const AIM = 1 / 3;

interface AddedLatency {
  readonly median_ms: number;
  readonly p99_ms: number;
  readonly rate: number;
  /** CPU time per call of the process that answers. */
  readonly cpu_us: number;
}

interface LoadWithCpu extends Load {
  readonly cpu_us: number;
}

/** Runs rounds of all targets in turn, each compared with direct calls of the provider in the same round. */
export async function whole(plan: Plan): Promise<void> {
  const body = chatBody(1_024);
  const measured = new Map<string, AddedLatency[]>();
  for (let round = 0; round < plan.rounds; round++) {
    const provider = await startProvider();
    const direct = measure(provider, body, plan);
    for (const name of plan.targets) {
      const target = await startTarget(name, provider.port, plan.scratch);
      measure(target, body, { ...plan, seconds: 1 });
      const through = measure(target, body, plan);
      CONNECTIONS.forEach((connections, at) => {
        const key = `${name} ${connections}`;
        measured.set(key, [...(measured.get(key) ?? []), addedTo(direct[at]!, through[at]!)]);
      });
      await target.stop();
    }
    await provider.stop();
  }
  print(plan, measured);
}

function measure({ url, headers, pid }: Target, body: string, { seconds, scratch }: Plan): LoadWithCpu[] {
  return CONNECTIONS.map((connections) => {
    const beforeUs = cpuUs(pid);
    const done = load({ url, headers, body, cores: LOAD_CORE, connections, seconds, scratch });
    return { ...done, cpu_us: (cpuUs(pid) - beforeUs) / done.requests };
  });
}

function addedTo(direct: LoadWithCpu, through: LoadWithCpu): AddedLatency {
  return {
    median_ms: (through.p50_us - direct.p50_us) / US_PER_MS,
    p99_ms: (through.p99_us - direct.p99_us) / US_PER_MS,
    rate: through.requests_per_second,
    cpu_us: through.cpu_us,
  };
}

function print({ targets }: Plan, measured: ReadonlyMap<string, readonly AddedLatency[]>): void {
  for (const connections of CONNECTIONS) {
    console.log(`whole answers, ${connections} connections, added to the provider's own:`);
    const of = (name: Name): readonly AddedLatency[] => measured.get(`${name} ${connections}`) ?? [];
    for (const name of targets) {
      const one = of(name);
      const p50 = spread(one.map(({ median_ms }) => median_ms));
      const p99 = spread(one.map(({ p99_ms }) => p99_ms));
      const rate = median(one.map(({ rate: each }) => each)).toFixed(0);
      const cpu = median(one.map(({ cpu_us }) => cpu_us)).toFixed(0);
      console.log(
        `  ${name.padEnd(8)} median ${p50} ms, p99 ${p99} ms, ${rate} calls/s, ${cpu} us of processor`,
      );
    }
    if (targets.includes('portkey') && targets.includes('ours')) printRatio(of('ours'), of('portkey'));
  }
}

function printRatio(ours: readonly AddedLatency[], theirs: readonly AddedLatency[]): void {
  const ratio = (of: (added: AddedLatency) => number): number =>
    median(ours.map(of)) / median(theirs.map(of));
  const p50 = ratio(({ median_ms }) => median_ms).toFixed(2);
  const p99 = ratio(({ p99_ms }) => p99_ms).toFixed(2);
  const cpu = ratio(({ cpu_us }) => cpu_us).toFixed(2);
  const aim = `aim ${AIM.toFixed(2)} at 16 and 64`;
  console.log(`  ours to portkey: median ${p50}, p99 ${p99} (${aim}); processor ${cpu}`);
}
