/** Measures the throughput of bodies of 1 MB, compared with the scan engine alone in its own process. */
import { cpuUs, firstLine, load, spawnOnCores, spread } from '../measure.ts';
import type { Plan } from './plan.ts';
import { GATEWAY_CORE, LOAD_CORE, startProvider, startTarget, type Target } from './targets.ts';
import { chatBody } from './texts.ts';

const MB = 1_048_576;
const CONNECTIONS = 4;
const US_PER_S = 1_000_000;

/** Measures MB per second of processor time: of a target, of the engine, and their ratio. */
export async function large(plan: Plan): Promise<void> {
  const body = chatBody(MB);
  const rates = new Map<string, number[]>();
  const note = (key: string, rate: number): void => void rates.set(key, [...(rates.get(key) ?? []), rate]);
  for (let round = 0; round < plan.rounds; round++) {
    const engine = await engineRate();
    note('engine', engine);
    const provider = await startProvider();
    for (const name of plan.targets) {
      const target = await startTarget(name, provider.port, plan.scratch);
      getRate(target, body, { ...plan, seconds: 1 });
      const rate = getRate(target, body, plan);
      note(name, rate);
      note(`${name} to the engine`, rate / engine);
      await target.stop();
    }
    await provider.stop();
  }
  console.log('bodies of 1 MB, MB for each second of processor (aim: ours a third of the engine):');
  for (const [key, values] of rates) console.log(`  ${key.padEnd(22)} ${spread(values)}`);
}

function getRate({ url, headers, pid }: Target, body: string, { seconds, scratch }: Plan): number {
  const beforeUs = cpuUs(pid);
  const { requests } = load({
    url,
    headers,
    body,
    cores: LOAD_CORE,
    connections: CONNECTIONS,
    seconds,
    scratch,
  });
  return (requests * body.length) / MB / ((cpuUs(pid) - beforeUs) / US_PER_S);
}

async function engineRate(): Promise<number> {
  const program = `${import.meta.dirname}/engine.ts`;
  return Number(await firstLine(spawnOnCores(GATEWAY_CORE, [process.execPath, program])));
}
