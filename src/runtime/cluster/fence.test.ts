/** A node without a lease blocks before anything is judged; in `stateless`, it blocks what needs shared state. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { NO_PRINCIPAL } from '../../core/types/index.ts';
import { buildExampleCrossing, buildExamplePorts, caller, SECRET } from '../../server/testing/examples.ts';
import type { AuditEvent } from '../audit/types.ts';
import { enforce } from '../enforcement/enforce.ts';
import { type Fence, openFence, readMachineMs } from './fence.ts';

const SYNCED_MS = Date.UTC(2026, 0, 31, 12);
const lease = (untilMs: number) => ({
  valid_until_ms: readMachineMs() + untilMs,
  synced_ms: SYNCED_MS,
  policy_revision: 7,
  policies_differ: false,
});
const LIVE = lease(3_600_000);
const ENDED = lease(-1);

async function decide(fence: Fence | undefined, change: object = {}, text = 'hello') {
  const events: AuditEvent[] = [];
  const ports = buildExamplePorts(events, { ...(fence !== undefined && { fence }) });
  const crossing = { ...buildExampleCrossing(text), ...change };
  const { verdict } = await enforce(crossing, caller, 'scan_input', ports);
  return { rule: verdict.rule, decision: verdict.decision, fault: verdict.fault, event: events[0]! };
}

test('a valid lease changes nothing but the revision in the event', async () => {
  const { rule, event } = await decide(openFence({ on_partition: 'block' }, LIVE));
  assert.deepEqual([rule, event.policy_revision, event.metadata.fenced], ['default.allow', 7, undefined]);
  const alone = await decide(undefined);
  assert.deepEqual([alone.rule, 'policy_revision' in alone.event], ['default.allow', false]);
});

test('when the lease has ended all is blocked, and the event says since when', async () => {
  const fence = openFence({ on_partition: 'block' }, ENDED);
  const { rule, decision, fault, event } = await decide(fence);
  assert.deepEqual([rule, decision, fault], ['fault.cluster', 'block', true]);
  assert.deepEqual(
    [event.policy_revision, event.metadata.fenced, event.metadata.fenced_synced_at],
    [7, true, '2026-01-31T12:00:00.000Z'],
  );
  fence.useLease(LIVE);
  assert.equal((await decide(fence)).rule, 'default.allow');
});

test('in `stateless` rules decide, and what needs a session or a task is blocked', async () => {
  const fence = openFence({ on_partition: 'stateless' }, ENDED);
  const allowed = await decide(fence);
  assert.deepEqual([allowed.rule, allowed.event.metadata.fenced], ['default.allow', true]);
  assert.equal((await decide(fence, {}, `Use key ${SECRET}`)).rule, 'no-secrets');
  const principal = { ...NO_PRINCIPAL, task_id: 'task_1' };
  const task = { boundary: 'action', phase: 'request', tool: 'ls', principal };
  assert.equal((await decide(fence, task)).rule, 'fault.cluster');
});

test('in `stateless` an approval is neither asked for nor used', async () => {
  const rule = { name: 'ask', boundary: 'input', data_tags: ['secret'], action: 'require_approval' };
  const policy = buildTestPolicy({ rules: [rule] });
  const asked: unknown[] = [];
  for (const [untilMs, count] of [
    [3_600_000, 1],
    [-1, 1],
  ] as const) {
    const ports = buildExamplePorts([], {
      policy,
      fence: openFence({ on_partition: 'stateless' }, lease(untilMs)),
      resolveApproval: async ({ judged }) => {
        asked.push(judged.rule);
        return { verdict: judged, approval: null };
      },
    });
    const crossing = buildExampleCrossing(`Use key ${SECRET}`);
    assert.equal((await enforce(crossing, caller, 'scan_input', ports)).verdict.decision, 'block');
    assert.equal(asked.length, count);
  }
});

test('all processes of a machine read the same clock', () => {
  const program = `const { readMachineMs } = await import(${JSON.stringify(new URL('./fence.ts', import.meta.url).href)});
    console.log(readMachineMs());`;
  const beforeMs = readMachineMs();
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const elsewhereMs = Number(ran.stdout);
  assert.ok(beforeMs < elsewhereMs && elsewhereMs < readMachineMs(), ran.stdout + ran.stderr);
});
