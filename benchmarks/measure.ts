/** Helpers that every benchmark shares: medians, child processes on a core, wrk. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Formats the median and the range, `1.23 (1.10 to 1.40)`, because machines are shared and noisy. */
export function spread(values: readonly number[], digits = 2): string {
  const lowest = Math.min(...values).toFixed(digits);
  const highest = Math.max(...values).toFixed(digits);
  return `${median(values).toFixed(digits)} (${lowest} to ${highest})`;
}

/** Starts a program on the given cores (`0`, `0,1`). It inherits only stderr. */
export function spawnOnCores(
  cores: string,
  command: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  cwd: string = process.cwd(),
): ChildProcess {
  return spawn('taskset', ['-c', cores, ...command], { stdio: ['ignore', 'pipe', 'inherit'], env, cwd });
}

export interface Load {
  readonly requests: number;
  readonly requests_per_second: number;
  readonly p50_us: number;
  readonly p99_us: number;
}

/** The placeholder for a number in a body that differs in each request. It may occur once. */
export const FRESH = '@fresh@';

/** Runs wrk once against `url` with a JSON body. Throws if any response was not 2xx. */
export function load(options: {
  readonly url: string;
  readonly body: string;
  /** Headers in addition to the content type. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cores: string;
  readonly connections: number;
  readonly threads?: number;
  readonly seconds: number;
  readonly scratch: string;
}): Load {
  const script = join(options.scratch, 'body.lua');
  const quoted = JSON.stringify(options.body).replaceAll('\\u', '\\\\u');
  const headers = Object.entries({ 'content-type': 'application/json', ...options.headers });
  const set = headers.map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  );
  const [head, ...tails] = quoted.split(FRESH);
  const fresh = [
    'local n = 0',
    `function request() n = n + 1 return wrk.format(nil, nil, nil, ${head}" .. n .. "${tails.join('')}) end`,
  ];
  const what = tails.length === 0 ? [`wrk.body = ${quoted}`] : fresh;
  writeFileSync(script, ['wrk.method = "POST"', ...set, ...what, ''].join('\n'));
  const output = execFileSync(
    'taskset',
    [
      ...['-c', options.cores, 'wrk', '--latency', '--timeout', '10s', '-s', script],
      ...['-c', String(options.connections), '-t', String(options.threads ?? 1), '-d', `${options.seconds}s`],
      options.url,
    ],
    { encoding: 'utf8' },
  );
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`the load run failed:\n${output}`);
  return {
    requests: Number(/(\d+) requests in/.exec(output)?.[1]),
    requests_per_second: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
    p50_us: microseconds(/50%\s+([\d.]+)(us|ms|s)/.exec(output)),
    p99_us: microseconds(/99%\s+([\d.]+)(us|ms|s)/.exec(output)),
  };
}

function microseconds(match: RegExpExecArray | null): number {
  const unit = { us: 1, ms: 1e3, s: 1e6 }[match?.[2] ?? ''];
  if (match === null || unit === undefined) throw new Error('wrk printed no latency');
  return Number(match[1]) * unit;
}

/**
 * Returns the processor time that a process and its threads have used, in microseconds, to a hundredth of a
 * second.
 */
export function cpuUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  const TICK_US = 10_000;
  return (Number(user) + Number(system)) * TICK_US;
}

/** Returns the first line that the child prints. */
export function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = '';
    child.stdout?.on('data', (chunk) => {
      seen += String(chunk);
      const end = seen.indexOf('\n');
      if (end >= 0) resolve(seen.slice(0, end));
    });
    child.once('exit', (code) => reject(new Error(`the program ended with ${code} before it was ready`)));
  });
}

/** Ends a child and waits for it. */
export function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill(signal);
  });
}
