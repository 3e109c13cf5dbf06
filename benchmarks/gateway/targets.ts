/**
 * Starts the compared targets, each on one core: the provider itself, a bare proxy, Portkey's gateway, and
 * our LLM proxy.
 */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { end, firstLine, spawnOnCores } from '../measure.ts';

const root = resolve(import.meta.dirname, '../..');
/** The core of the measured target. The load and the provider run on the other one. */
export const GATEWAY_CORE = '0';
export const LOAD_CORE = '1';
const READY_MS = 30_000;
/** Portkey's gateway, with an adapter of the time of its release, because later ones break its streams. */
const PORTKEY = {
  private: true,
  dependencies: { '@portkey-ai/gateway': '1.15.2' },
  overrides: { '@hono/node-server': '1.13.8' },
};

export const NAMES = ['direct', 'bare', 'portkey', 'ours'] as const;
export type Name = (typeof NAMES)[number];

export interface Target {
  readonly name: Name;
  /** The URL of the target's `/v1/chat/completions`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The process that answers. */
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Every process that a run has started, so that none outlives a failed run. */
const started: ChildProcess[] = [];

export async function endAll(): Promise<void> {
  await Promise.all(started.map((child) => end(child)));
}

/** Starts the provider, and returns its port. */
export async function startProvider(): Promise<Target & { readonly port: number }> {
  const child = startNode(LOAD_CORE, ['upstream.ts']);
  const port = Number(await firstLine(child));
  return { ...getTarget('direct', child, port, {}), port };
}

export async function startTarget(
  name: Exclude<Name, 'direct'>,
  providerPort: number,
  scratch: string,
): Promise<Target> {
  if (name === 'bare') return startBare(providerPort);
  return name === 'portkey' ? startPortkey(providerPort) : startOurs(providerPort, scratch);
}

async function startBare(providerPort: number): Promise<Target> {
  const child = startNode(GATEWAY_CORE, ['bare.ts', String(providerPort)]);
  return getTarget('bare', child, Number(await firstLine(child)), {});
}

/** Starts Portkey's gateway from npm, in a folder of its own that the next run uses again. */
async function startPortkey(providerPort: number): Promise<Target> {
  const dir = join(tmpdir(), 'bench-gateway-portkey-1.15.2');
  const program = join(dir, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');
  if (!existsSync(program)) {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'package.json'), JSON.stringify(PORTKEY));
    const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev'];
    const { status, stderr } = spawnSync('npm', words, { cwd: dir, encoding: 'utf8' });
    if (status !== 0) throw new Error(`npm could not install Portkey's gateway:\n${stderr}`);
  }
  const port = await freePort();
  const child = spawnOnCores(GATEWAY_CORE, [process.execPath, program, `--port=${port}`, '--headless'], {
    ...process.env,
    NODE_ENV: 'production',
  });
  child.stdout?.resume();
  started.push(child);
  await answers(`http://127.0.0.1:${port}/`);
  return getTarget('portkey', child, port, {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${providerPort}/v1`,
  });
}

/** Starts the service with everything enabled: default policy, audit log, metrics; one worker. */
async function startOurs(providerPort: number, scratch: string): Promise<Target> {
  const dir = mkdtempSync(join(scratch, 'service-'));
  writeFileSync(join(dir, 'service.yaml'), `proxy: {target: "http://127.0.0.1:${providerPort}/v1"}\n`);
  const port = await freePort();
  const command = [join(root, 'service'), 'serve', '--port', String(port), '--workers', '1'];
  const child = spawnOnCores(GATEWAY_CORE, command, { ...process.env, LOG_LEVEL: 'silent' }, dir);
  child.stdout?.resume();
  started.push(child);
  await answers(`http://127.0.0.1:${port}/v1/ready`);
  const target = getTarget('ours', child, port, {
    authorization: 'Bearer bench',
    'x-service-agent': 'bench',
  });
  return { ...target, pid: getWorker(target.pid) };
}

function startNode(core: string, [file = '', ...args]: readonly string[]): ChildProcess {
  const child = spawnOnCores(core, [process.execPath, join(import.meta.dirname, file), ...args]);
  started.push(child);
  return child;
}

function getTarget(name: Name, child: ChildProcess, port: number, headers: Target['headers']): Target {
  const url = `http://127.0.0.1:${port}/v1/chat/completions`;
  return { name, url, headers, pid: child.pid ?? 0, stop: () => end(child) };
}

async function freePort(): Promise<number> {
  return await new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function answers(url: string): Promise<void> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    const status = await fetch(url).then(
      (answer) => answer.status,
      () => null,
    );
    if (status === 200) return;
    if (performance.now() > deadline) throw new Error(`${url} answered ${status} for ${READY_MS} ms`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Returns the newest descendant of a service. */
function getWorker(parentPid: number): number {
  const children = readFileSync(`/proc/${parentPid}/task/${parentPid}/children`, 'utf8');
  return Number(children.trim().split(' ').at(-1));
}

/** Returns the resident memory of a process, in KB. */
export function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
