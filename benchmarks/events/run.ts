/**
 * Measures how much readers of the event stream slow down decisions: 500 WebSockets that together receive
 * 20,000 events a second after their filters, compared with the same decisions without readers, in turn in
 * one run.
 *
 * Usage: node benchmarks/events/run.ts [rounds=3] [seconds=5]. The service has two workers. This process
 * sends decisions at a fixed rate, and readers have a process of their own. On a machine with two cores all
 * of them share the cores; the share of the readers' process is part of the figure, and is printed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestService, type TestService } from '../../tests/support/service.ts';
import { cpuUs, end, median, spread } from '../measure.ts';

const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 5);
const READERS = 500;
/**
 * The number of agents. Each decision is about one of them, and a tenth of all readers subscribes to each.
 */
const GROUPS = 10;
/**
 * The rate of decisions. 50 readers receive each, which gives a little more than the 20,000 events a second.
 */
const DECISIONS_PER_SECOND = 410;
const EVENTS_PER_SECOND_MIN = 20_000;
const TICK_MS = 10;
const scratch = mkdtempSync(join(tmpdir(), 'bench-events-'));
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

interface Side {
  readonly p50_us: number;
  readonly p99_us: number;
  readonly service_cpu: number;
  readonly delivered_per_second: number;
  readonly readers_cpu: number;
}

interface Readers {
  readonly child: ChildProcess;
  readonly count: () => Promise<{ readonly events: number; readonly dropped: number }>;
}

/**
 * Requests one decision; returns the time from the first byte sent to the last byte received, in
 * microseconds.
 */
function decide(service: TestService, index: number): Promise<number> {
  const body = JSON.stringify({
    text: 'The quarterly review covers open tickets.',
    agent_id: `bench-${index % GROUPS}`,
  });
  const before = performance.now();
  return new Promise((done, fail) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: service.port,
        path: '/v1/scan/input',
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (answer) => {
        if (answer.statusCode !== 200) fail(new Error(`a decision was answered with ${answer.statusCode}`));
        answer.resume().on('end', () => done((performance.now() - before) * 1000));
      },
    );
    sent.on('error', fail);
    sent.end(body);
  });
}

/** Requests decisions at the fixed rate, without waiting for responses. */
async function decideFor(service: TestService, ms: number): Promise<number[]> {
  const asked: Promise<number>[] = [];
  const began = performance.now();
  for (let index = 0; performance.now() - began < ms; ) {
    const due = ((performance.now() - began) * DECISIONS_PER_SECOND) / 1000;
    for (; index < due; index++) asked.push(decide(service, index));
    await sleep(TICK_MS);
  }
  return Promise.all(asked);
}

async function openReaders(service: TestService): Promise<Readers> {
  const program = join(resolve(import.meta.dirname), 'readers.ts');
  const child = spawn(process.execPath, [program, service.url, String(READERS), String(GROUPS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  if ((await lines.next()).value !== 'open') throw new Error('the readers were not admitted');
  return {
    child,
    count: async () => {
      child.stdin!.write('count\n');
      return JSON.parse((await lines.next()).value as string) as { events: number; dropped: number };
    },
  };
}

function serviceCpuUs(service: TestService): number {
  return [service.pid, ...service.worker_pids()].reduce((sum, pid) => sum + cpuUs(pid), 0);
}

async function measure(service: TestService, readers: Readers | null): Promise<Side> {
  await decideFor(service, 1_000);
  const ms = seconds * 1000;
  const before = (await readers?.count())?.events ?? 0;
  const cpu = serviceCpuUs(service);
  const readersUs = readers === null ? 0 : cpuUs(readers.child.pid!);
  const began = performance.now();
  const times = (await decideFor(service, ms)).toSorted((a, b) => a - b);
  const tookS = (performance.now() - began) / 1000;
  const counted = await readers?.count();
  if ((counted?.dropped ?? 0) > 0) throw new Error(`${counted?.dropped} readers were dropped`);
  return {
    p50_us: median(times),
    p99_us: times[Math.floor(times.length * 0.99)]!,
    service_cpu: (serviceCpuUs(service) - cpu) / 1e6 / tookS,
    readers_cpu: readers === null ? 0 : (cpuUs(readers.child.pid!) - readersUs) / 1e6 / tookS,
    delivered_per_second: ((counted?.events ?? 0) - before) / tookS,
  };
}

const service = await startTestService({ dir: scratch, env: { LOG_LEVEL: 'silent' } });
const alone: Side[] = [];
const read: Side[] = [];
try {
  await decideFor(service, 2_000);
  for (let round = 0; round < rounds; round++) {
    alone.push(await measure(service, null));
    const readers = await openReaders(service);
    read.push(await measure(service, readers));
    await end(readers.child);
    await sleep(500);
  }
} finally {
  agent.destroy();
  await service.stop();
  rmSync(scratch, { recursive: true, force: true });
}
const ratios = (of: (side: Side) => number) => read.map((side, round) => of(side) / of(alone[round]!));
const slower = ratios(({ p50_us }) => p50_us);
console.log(`decisions a second:                     ${DECISIONS_PER_SECOND}`);
const delivered = read.map((side) => side.delivered_per_second);
console.log(
  `events delivered a second, ${READERS} readers: ${spread(delivered, 0)}${median(delivered) < EVENTS_PER_SECOND_MIN ? `  MISSED: at least ${EVENTS_PER_SECOND_MIN}` : ''}`,
);
console.log(
  `a decision, median, no reader:       ${spread(
    alone.map((side) => side.p50_us),
    0,
  )} us`,
);
console.log(
  `a decision, median, with readers:       ${spread(
    read.map((side) => side.p50_us),
    0,
  )} us`,
);
console.log(
  `  ratio, at most 1.10:                  ${spread(slower)}${median(slower) > 1.1 ? '  MISSED' : ''}`,
);
console.log(`  ratio of the 99th percentile:         ${spread(ratios(({ p99_us }) => p99_us))}`);
console.log(`processors of the service, no reader: ${spread(alone.map((side) => side.service_cpu))}`);
console.log(`processors of the service, with readers: ${spread(read.map((side) => side.service_cpu))}`);
console.log(`processors of the readers:               ${spread(read.map((side) => side.readers_cpu))}`);
