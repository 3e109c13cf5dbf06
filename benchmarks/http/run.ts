/**
 * Measures the cost of a decision over HTTP: throughput compared with a bare Fastify route, latency with the
 * disk's own `fdatasync`, two workers with one, and start-up with `node -e 0`; also idle memory.
 *
 * Usage: node benchmarks/http/run.ts [rounds=5] [seconds=3]. Needs `wrk` and `taskset`, and two cores. CPU
 * per request is printed as well, because it shows how reliable the figures are if other programs run.
 */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { closeSync, fdatasync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { cpuUs, end, firstLine, load, median, spawnOnCores, spread } from '../measure.ts';

const rounds = Number(process.argv[2] ?? 5);
const seconds = Number(process.argv[3] ?? 3);
const root = resolve(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'bench-http-'));

/** 1 KB of ordinary text in which no detector finds anything. */
const sentence =
  'The quarterly review covers shipping times, open tickets and the plan for the next release. ';
const body = JSON.stringify({ text: sentence.repeat(12).slice(0, 1024), agent_id: 'bench' });

async function freePort(): Promise<number> {
  return await new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** Every process that a run has started, so that none outlives a failed run. */
const started: ChildProcess[] = [];

interface BenchmarkServer {
  readonly url: string;
  readonly pid: number;
  readonly started_ms: number;
  readonly stop: () => Promise<void>;
}

async function startService(workers: number, cores: string): Promise<BenchmarkServer> {
  const dir = mkdtempSync(join(scratch, 'service-'));
  const port = await freePort();
  const before = performance.now();
  const command = [join(root, 'service'), 'serve', '--port', String(port), '--workers', String(workers)];
  const child = spawnOnCores(cores, command, { ...process.env, LOG_LEVEL: 'silent' }, dir);
  child.stdout?.resume();
  started.push(child);
  const url = `http://127.0.0.1:${port}`;
  await healthy(`${url}/v1/health`);
  const startedMs = performance.now() - before;
  return { url, pid: child.pid ?? 0, started_ms: startedMs, stop: () => end(child) };
}

/**
 * Waits until the service is healthy. Polls every 2 ms, so that the figure is not rounded up to a longer
 * interval.
 */
async function healthy(url: string): Promise<void> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const ok = await fetch(url)
      .then((answer) => answer.ok)
      .catch(() => false);
    if (ok) return;
    if (performance.now() > deadline) throw new Error('the service was not healthy in 20 s');
    await new Promise((done) => setTimeout(done, 2));
  }
}

async function startBare(cores: string, port = 0): Promise<BenchmarkServer> {
  const child = spawnOnCores(cores, [process.execPath, join(import.meta.dirname, 'bare.ts'), String(port)]);
  started.push(child);
  const bound = await firstLine(child);
  return { url: `http://127.0.0.1:${bound}`, pid: child.pid ?? 0, started_ms: 0, stop: () => end(child) };
}

/**
 * Measures the disk's own cost: one small write with `fdatasync`, in microseconds, median of many. A thread
 * waits for it, as in the service, because on a busy machine the main thread resumes far later.
 */
async function fdatasyncMedianUs(): Promise<number> {
  const sync = promisify(fdatasync);
  const fd = openSync(join(scratch, 'sync'), 'a');
  const times: number[] = [];
  for (let i = 0; i < 300; i++) {
    writeSync(fd, 'x'.repeat(900));
    const before = performance.now();
    await sync(fd);
    times.push((performance.now() - before) * 1000);
  }
  closeSync(fd);
  return median(times);
}

function run(url: string, connections: number, cores = '1', threads = 1) {
  return load({ url: `${url}/v1/scan/input`, body, cores, connections, threads, seconds, scratch });
}

/** Runs 128 connections, and measures the processor time of a process per request. */
function runCounted(url: string, pid: number) {
  const beforeUs = cpuUs(pid);
  const many = run(url, 128);
  return [many, (cpuUs(pid) - beforeUs) / many.requests] as const;
}

async function throughput(): Promise<void> {
  const ratios: number[] = [];
  const added: number[] = [];
  const bareRate: number[] = [];
  const ourRate: number[] = [];
  const indexedRatios: number[] = [];
  const disk: number[] = [];
  const cpu = { bare: [] as number[], worker: [] as number[], indexer: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const bare = await startBare('0');
    run(bare.url, 32);
    const [bareMany, bareCpu] = runCounted(bare.url, bare.pid);
    const bareOne = run(bare.url, 1);
    await bare.stop();
    disk.push(await fdatasyncMedianUs());
    const ours = await startService(1, '0');
    run(ours.url, 32);
    const [indexed, indexerCpu] = runCounted(ours.url, ours.pid);
    // The parent indexes and takes no requests. While it is stopped, the worker decides alone.
    process.kill(ours.pid, 'SIGSTOP');
    const [ourMany, workerCpu] = runCounted(ours.url, getWorker(ours.pid));
    const ourOne = run(ours.url, 1);
    process.kill(ours.pid, 'SIGCONT');
    await ours.stop();
    indexedRatios.push(indexed.requests_per_second / bareMany.requests_per_second);
    ratios.push(ourMany.requests_per_second / bareMany.requests_per_second);
    bareRate.push(bareMany.requests_per_second);
    ourRate.push(ourMany.requests_per_second);
    added.push(ourOne.p50_us - bareOne.p50_us);
    cpu.bare.push(bareCpu);
    cpu.worker.push(workerCpu);
    cpu.indexer.push(indexerCpu);
  }
  console.log(`bare Fastify, 128 connections, one core:       ${spread(bareRate, 0)} requests/s`);
  console.log(`durable scan_input, 128 connections, one core: ${spread(ourRate, 0)} requests/s`);
  console.log(`  ratio to bare Fastify:                       ${spread(ratios)}`);
  console.log(`  ratio with the indexer on the same core:     ${spread(indexedRatios)}`);
  console.log(`CPU per request, bare Fastify:                 ${spread(cpu.bare, 0)} us`);
  console.log(`  a worker:                                    ${spread(cpu.worker, 0)} us`);
  console.log(`  the parent, which indexes in parallel:      ${spread(cpu.indexer, 0)} us`);
  console.log(`one connection, median added to bare Fastify:  ${spread(added, 0)} us`);
  console.log(`  the disk's own fdatasync median:             ${spread(disk, 0)} us`);
  console.log(`  ratio to fdatasync:                          ${(median(added) / median(disk)).toFixed(2)}`);
}

/**
 * Measures two workers. Both cores run the load as well, so the gain of a bare Fastify from a second process
 * is printed too.
 */
async function twoWorkers(): Promise<void> {
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const one = await getRate([await startService(1, '0,1')]);
    const bareOne = await getRate([await startBare('0,1')]);
    const port = await freePort();
    const bareTwo = await getRate([await startBare('0,1', port), await startBare('0,1', port)]);
    const two = await getRate([await startService(2, '0,1')]);
    ours.push(two / one);
    bare.push(bareTwo / bareOne);
  }
  console.log(`two workers to one, both cores, wrk on them:   ${spread(ours)}`);
  console.log(`  two bare Fastify to one, in the same way:    ${spread(bare)}`);
}

/** Returns the requests per second of processes that share a port, and ends them. */
async function getRate(running: readonly BenchmarkServer[]): Promise<number> {
  const { url } = running[0]!;
  run(url, 128, '0,1', 2);
  const { requests_per_second } = run(url, 128, '0,1', 2);
  for (const { stop } of running) await stop();
  return requests_per_second;
}

/** Returns the newest descendant of a service. */
function getWorker(parentPid: number): number {
  return Number(
    readFileSync(`/proc/${parentPid}/task/${parentPid}/children`, 'utf8').trim().split(' ').at(-1),
  );
}

/** Returns the resident memory of a worker, in MB. */
function workerMemoryMb(parentPid: number): number {
  const status = readFileSync(`/proc/${getWorker(parentPid)}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

async function startUp(): Promise<void> {
  const empty: number[] = [];
  const ours: number[] = [];
  const memory: number[] = [];
  for (let round = 0; round < rounds + 4; round++) {
    const before = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    empty.push(performance.now() - before);
    const service = await startService(1, '0,1');
    ours.push(service.started_ms);
    await new Promise((done) => setTimeout(done, 500));
    memory.push(workerMemoryMb(service.pid));
    await service.stop();
  }
  console.log(`\`node -e 0\`:                                   ${spread(empty, 0)} ms`);
  console.log(`./service serve to the first healthy answer:   ${spread(ours, 0)} ms`);
  console.log(
    `  ratio to \`node -e 0\`:                        ${(median(ours) / median(empty)).toFixed(1)}`,
  );
  console.log(`idle memory of a worker:                       ${spread(memory, 0)} MB`);
}

try {
  await throughput();
  await twoWorkers();
  await startUp();
} finally {
  for (const child of started) child.kill('SIGCONT');
  await Promise.all(started.map((child) => end(child)));
  rmSync(scratch, { recursive: true, force: true });
}
