/**
 * Measures a guard in a Python program: its start, what it adds to a tool call with 1 KB of arguments, and the check of
 * 1 KB of text, next to Presidio's recognisers with patterns and llm-guard's scanner of secrets in the same rounds.
 * `scripts/run benchmarks/sdk/python.ts [FOLDER]`
 *
 * FOLDER has `secrets.dev.jsonl.gz` and `pii.dev.jsonl.gz`, rows with `text`, `label` and `labels`. With it, every
 * `EVERY`-th row counts for recall and false positives. `PRESIDIO_PYTHON` and `LLM_GUARD_PYTHON` name environments that
 * have the packages already.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { buildPythonCore } from '../../scripts/build/python.ts';
import { ensureComponents, locateComponent } from '../../scripts/components/components.ts';
import { getPrograms, installFromPypi, isFromPypi } from '../../scripts/components/python.ts';
import { runProgram, userEnvironment } from '../../tests/support/checkout.ts';
import { startTestService } from '../../tests/support/service.ts';
import { median } from '../measure.ts';

const ROUNDS = 3;
const STARTS = 15;
/** The share of rows that count; llm-guard takes half an hour for all. */
const EVERY = 8;
const PROGRAM = join(import.meta.dirname, 'checks.py');
const PACKAGE = join(import.meta.dirname, '..', '..', 'python');

const PRESIDIO = ['presidio-analyzer==2.2.366'];
/** Without torch and the models, which the scanner of secrets does not use. */
const LLM_GUARD = 'llm-guard==0.3.16';
const LLM_GUARD_NEEDS = ['bc-detect-secrets==1.5.43', 'presidio-anonymizer==2.2.358', 'structlog==26.1.0'];

interface Tool {
  readonly name: string;
  readonly python: string;
}

ensureComponents(['sdk-python'], console.log);
await buildPythonCore();
const own: Tool = { name: 'customshouse', python: locateComponent('sdk-python')! };
const presidio: Tool = { name: 'presidio', python: process.env.PRESIDIO_PYTHON ?? installPresidio() };
const llmGuard: Tool = { name: 'llm-guard', python: process.env.LLM_GUARD_PYTHON ?? installLlmGuard() };
const load = () => `load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} processors`;

console.log(load());
await measureStart();
await measureCalls();
await measureTexts();
const [folder] = process.argv.slice(2);
if (folder !== undefined) await countFolder(folder);
console.log(load());

function installPresidio(): string {
  const name = 'benchmark-presidio';
  if (!isFromPypi(name, PRESIDIO) && !installFromPypi(name, PRESIDIO))
    throw new Error(`${PRESIDIO.join(', ')} cannot be installed.`);
  return join(getPrograms(name), 'python');
}

function installLlmGuard(): string {
  const name = 'benchmark-llm-guard';
  const python = join(getPrograms(name), 'python');
  if (isFromPypi(name, LLM_GUARD_NEEDS) && existsSync(python)) return python;
  const words = ['-m', 'pip', 'install', '--quiet', '--no-deps', LLM_GUARD];
  if (!installFromPypi(name, LLM_GUARD_NEEDS) || spawnSync(python, words, { stdio: 'ignore' }).status !== 0)
    throw new Error(`${LLM_GUARD} cannot be installed.`);
  return python;
}

/** Runs the program in the environment of a package, and returns its answer. */
async function ask<Answer>({ name, python }: Tool, ...words: readonly string[]): Promise<Answer> {
  const env = userEnvironment({
    ...(name === own.name && { PYTHONPATH: PACKAGE }),
    PYTHONDONTWRITEBYTECODE: '',
  });
  const ran = await runProgram([python, PROGRAM, name, ...words], { env });
  if (ran.code !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout.trim().split('\n').at(-1)!) as Answer;
}

/** The first start builds the snapshot of the engine, and does not count. */
async function measureStart(): Promise<void> {
  await ask(own, 'start');
  const starts: (readonly [readonly number[], readonly number[]])[] = [];
  for (let at = 0; at < STARTS; at++) starts.push(await ask(own, 'start'));
  for (const [kind, name] of ['time', 'processor time'].entries()) {
    const parts = [0, 1, 2, 3].map((part) => median(starts.map((each) => each[kind]![part]!)).toFixed(0));
    const whole = starts
      .map((each) => each[kind]!.slice(1).reduce((sum, part) => sum + part, 0))
      .toSorted((a, b) => a - b);
    console.log(
      `start, ${name} in ms: asyncio ${parts[0]}; package ${parts[1]}, guard ${parts[2]}, first check ${parts[3]}: ${median(whole).toFixed(0)}, least ${whole[0]?.toFixed(0)}`,
    );
  }
}

async function measureCalls(): Promise<void> {
  const service = await startTestService({ workers: 1 });
  const echo = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  }).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const echoUrl = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
  try {
    print('tool call, in process', await repeat(() => ask(own, 'call', '')));
    print('tool call, by a service on loopback', await repeat(() => ask(own, 'call', service.url)));
    print('httpx to a server that only answers', await repeat(() => ask(own, 'echo', echoUrl)));
  } finally {
    await service.stop();
    echo.close();
  }
}

async function measureTexts(): Promise<void> {
  for (const [category, tool] of Object.entries({ pii: presidio, secrets: llmGuard })) {
    const pairs: (readonly [Times, Times])[] = [];
    for (let round = 0; round < ROUNDS; round++)
      pairs.push([await ask(own, 'time', category), await ask(tool, 'time', category)]);
    print(
      `${category}, ${own.name}`,
      pairs.map(([ours]) => ours),
    );
    print(
      `${category}, ${tool.name}`,
      pairs.map(([, theirs]) => theirs),
    );
    const ratios = pairs.map(([[, ours], [, theirs]]) => theirs / ours).toSorted((a, b) => a - b);
    console.log(`${category}: ${tool.name} takes ${median(ratios).toFixed(0)} times as long`);
  }
}

/** Percentiles in microseconds. */
type Times = readonly [p10: number, p50: number, p99: number];

async function repeat(measure: () => Promise<Times>): Promise<readonly Times[]> {
  const rounds: Times[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measure());
  return rounds;
}

function print(name: string, rounds: readonly Times[]): void {
  const [p10, p50, p99] = [0, 1, 2].map((at) => median(rounds.map((each) => each[at]!)).toFixed(0));
  const all = rounds.map(([, each]) => each.toFixed(0)).join(', ');
  console.log(`${name.padEnd(44)}${p50!.padStart(9)} us (rounds ${all}), p10 ${p10}, p99 ${p99}`);
}

async function countFolder(folder: string): Promise<void> {
  for (const [category, other] of Object.entries({ pii: presidio, secrets: llmGuard })) {
    const file = join(folder, `${category}.dev.jsonl.gz`);
    for (const tool of [own, other]) {
      const counts = await ask<readonly number[]>(tool, 'rows', category, file, String(EVERY));
      const [positive = 0, found = 0, benign = 0, flagged = 0] = counts;
      console.log(
        `${category}, ${tool.name}: recall ${share(found, positive)} of ${positive}, false positives ${share(flagged, benign)} of ${benign}`,
      );
    }
  }
}

function share(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}
