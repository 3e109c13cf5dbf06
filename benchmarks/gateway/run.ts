/**
 * Measures how much the LLM proxy adds to a call, compared with a bare proxy on `node:http` and with
 * Portkey's gateway from npm, in front of the same provider with a response time of 20 ms. Every call is
 * guarded and audited.
 *
 * Usage: node benchmarks/gateway/run.ts [rounds=5] [seconds=3] [parts=whole,first,crowd,large]
 * [targets=bare,portkey,ours]. Needs `wrk`, `taskset` and two cores: the measured target has one, the
 * provider and the load share the other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crowd } from './crowd.ts';
import { firstText } from './first-text.ts';
import { large } from './large.ts';
import type { Plan } from './plan.ts';
import { endAll, NAMES } from './targets.ts';
import { whole } from './whole.ts';

const [rounds = '5', seconds = '3', parts = 'whole,first,crowd,large', names = 'bare,portkey,ours'] =
  process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'bench-gateway-'));

const plan: Plan = {
  rounds: Number(rounds),
  seconds: Number(seconds),
  targets: NAMES.filter((name) => name !== 'direct').filter((name) => names.split(',').includes(name)),
  scratch,
};
const PARTS: Readonly<Record<string, (plan: Plan) => Promise<void>>> = {
  whole,
  first: firstText,
  crowd,
  large,
};

try {
  for (const part of parts.split(',')) await PARTS[part]?.(plan);
} finally {
  await endAll();
  rmSync(scratch, { recursive: true, force: true });
}
