/**
 * Measures the cost of a hook before every tool call of a coding agent: the whole of `./service hook`, from
 * the start of the process to its end, compared with `node -e 0` with the same Node. It runs with a daemon
 * and without one. Each decides on an ordinary command and on one that is blocked; ratios are medians of
 * interleaved runs.
 * `node benchmarks/hook/run.ts [--runs 40]`
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { median, spread } from '../measure.ts';

/** The goal for the round trip, in starts of Node. */
const AIM = 1.6;
const RESIDENT_MS_MAX = 20_000;

const { values } = parseArgs({ options: { runs: { type: 'string', default: '40' } } });
const runs = Number(values.runs);
const service = resolve(import.meta.dirname, '..', '..', 'service');
const folders = { alone: makeFolder(), resident: makeFolder() };
const CALLS = { ordinary: 'git status', blocked: 'rm -rf /' } as const;
type Call = keyof typeof CALLS;

try {
  for (const folder of Object.values(folders)) ask(folder, 'blocked', 'off');
  ask(folders.resident, 'blocked', 'on');
  await residentIn(folders.resident);
  report(measure());
} finally {
  const owner = getOwner(folders.resident);
  if (owner !== null) process.kill(owner);
  await sleep(500);
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true });
}

function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'hook-bench-'));
}

/** Runs the hook as a coding agent does, and checks that it has decided. */
function ask(cwd: string, call: Call, resident: 'on' | 'off'): number {
  const input = JSON.stringify({
    session_id: 'bench',
    turn_id: 'one',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: CALLS[call] },
  });
  const env = { ...process.env, SERVICE_HOOK_DAEMON: resident };
  const began = performance.now();
  const { status, stdout } = spawnSync(service, ['hook'], { cwd, input, env, encoding: 'utf8' });
  const took = performance.now() - began;
  assert.equal(status, 0);
  assert.equal(stdout.includes('"deny"'), call === 'blocked');
  return took;
}

function bare(): number {
  const began = performance.now();
  assert.equal(spawnSync(process.execPath, ['-e', '0'], { input: '' }).status, 0);
  return performance.now() - began;
}

async function residentIn(folder: string): Promise<void> {
  const began = performance.now();
  while (!existsSync(join(folder, '.service', 'content.sock'))) {
    assert.ok(performance.now() - began < RESIDENT_MS_MAX, 'no daemon started');
    await sleep(50);
  }
}

function getOwner(folder: string): number | null {
  try {
    return (JSON.parse(readFileSync(join(folder, '.service', 'owner.json'), 'utf8')) as { pid: number }).pid;
  } catch {
    return null;
  }
}

type Series = Record<'bare' | `${'resident' | 'alone'} ${Call}`, number[]>;

function measure(): Series {
  const series: Series = {
    bare: [],
    'resident ordinary': [],
    'resident blocked': [],
    'alone ordinary': [],
    'alone blocked': [],
  };
  for (let run = 0; run < runs; run += 1) {
    series.bare.push(bare());
    for (const call of ['ordinary', 'blocked'] as const) {
      series[`resident ${call}`].push(ask(folders.resident, call, 'on'));
      series[`alone ${call}`].push(ask(folders.alone, call, 'off'));
    }
  }
  return series;
}

function report({ bare: base, ...others }: Series): void {
  console.log(`node -e 0: ${median(base).toFixed(1)} ms, the median of ${runs}`);
  for (const [name, taken] of Object.entries(others)) {
    const ratios = taken.map((ms, at) => ms / base[at]!);
    const ratio = median(ratios);
    const least = Math.min(...taken) / Math.min(...base);
    const verdict = ratio <= AIM ? '' : `  misses ${AIM}`;
    console.log(
      `${name.padEnd(18)} ${median(taken).toFixed(1)} ms  x ${spread(ratios)}, of the least x ${least.toFixed(2)}${verdict}`,
    );
  }
}
