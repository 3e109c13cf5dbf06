/**
 * Measures the processor time that checking arguments by their origin adds to a tool call, compared with the same call
 * without that check, in process and with the SQLite store.
 * `node benchmarks/values/run.ts`
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTestPolicy } from '../../src/core/testing/policies.ts';
import type { Policy } from '../../src/core/types/index.ts';
import { enforce } from '../../src/runtime/enforcement/enforce.ts';
import { openSessionClock } from '../../src/runtime/enforcement/sessions/clock.ts';
import { LIMITS } from '../../src/runtime/enforcement/sessions/testing/limits.ts';
import { openValueIndex } from '../../src/runtime/enforcement/values/index.ts';
import { openServiceStore } from '../../src/server/store.ts';
import { buildExampleCrossing, buildExamplePorts, caller } from '../../src/server/testing/examples.ts';
import { median, spread } from '../measure.ts';

const ROUNDS = 9;
const CALLS = 2_000;
const VALUES = 3_000;

const buildPolicy = (flow: object): Policy =>
  buildTestPolicy({
    documents: [{ contracts: [{ tool_name: 'pay', ...flow }] }],
    settings: { builtin_rules: false, default_action: 'allow' },
  });
const policies = {
  'without flow': buildPolicy({}),
  'with flow': buildPolicy({
    flow: {
      arguments: { to: { any_of: ['user'] }, amount: { any_of: ['user'] } },
      others: { any_of: ['any'] },
    },
  }),
};

const folder = mkdtempSync(join(tmpdir(), 'values-benchmark-'));
const store = await openServiceStore({ kind: 'sqlite', path: join(folder, 'store.db') }, { migrate: true });
const sessions = {
  store: async () => store,
  limits: LIMITS,
  timeOf: openSessionClock(),
  values: openValueIndex(() => 'x'.repeat(43)),
};
const run = async (policy: Policy, parts: object) => {
  const crossing = buildExampleCrossing('', { session_id: 's', ...parts });
  return enforce(crossing, caller, 'intercept_tool', buildExamplePorts([], { policy, sessions }));
};
const call = {
  ...{ boundary: 'action', phase: 'request', tool: 'pay' },
  content: { kind: 'json', value: { to: 'DE89370400440532013000', amount: 1250, note: 'rent' } },
};

const words = Array.from({ length: VALUES }, (_, at) => `order-${at * 7919}`).join(' and ');
const mail = { boundary: 'action', phase: 'response', tool: 'mail', content: { kind: 'text', text: words } };
await run(policies['with flow'], mail);
const prompt = { kind: 'text', text: 'Pay 1250 to DE89370400440532013000' };
await run(policies['with flow'], { boundary: 'input', phase: null, content: prompt, content_label: 'user' });

const times: Record<string, number[]> = { 'without flow': [], 'with flow': [] };
for (let round = 0; round < ROUNDS; round++)
  for (const [name, policy] of Object.entries(policies)) {
    const began = process.cpuUsage();
    for (let at = 0; at < CALLS; at++) {
      const { verdict } = await run(policy, call);
      assert.equal(verdict.decision, 'allow');
    }
    const { user, system } = process.cpuUsage(began);
    times[name]!.push((user + system) / CALLS);
  }
for (const [name, values] of Object.entries(times))
  console.log(`${name.padEnd(14)} ${spread(values, 1)} us a call`);
const [plain, checked] = [median(times['without flow']!), median(times['with flow']!)];
console.log(`on top         ${(checked - plain).toFixed(1)} us, ratio ${(checked / plain).toFixed(2)}`);
await store.close();
rmSync(folder, { recursive: true });
