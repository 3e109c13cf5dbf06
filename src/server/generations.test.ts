import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectRows } from '../core/testing/expect-rows.ts';
import { openLog } from '../platform/log.ts';
import { openSerialQueue } from '../platform/queue/serial-queue.ts';
import { changeGeneration } from './generations.ts';
import type { Worker } from './workers.ts';

const log = openLog({ level: 'silent', name: 'test' });
const next = { generation: 2, hash: 'sha256:b' };

/** Returns a worker that adds each question to `heard` and fails at `failsAt`. */
function createWorker(name: string, heard: string[], failsAt: string | null = null): Worker {
  return {
    name,
    pid: 0,
    started_ms: 0,
    call: (async (question: string) => {
      heard.push(`${name} ${question}`);
      if (question === failsAt) throw new Error('The saved policy is damaged.');
    }) as unknown as Worker['call'],
    kill: async () => void heard.push(`${name} killed`),
  };
}

const rows = [
  {
    why: 'all have it before any uses it',
    fails: [null, null],
    settles: true,
    heard: ['a prepare', 'b prepare', 'settle', 'a commit', 'b commit'],
    changed: true,
  },
  {
    why: 'one that cannot load it keeps the old one everywhere',
    fails: [null, 'prepare'],
    settles: true,
    heard: ['a prepare', 'b prepare', 'a abandon', 'b abandon'],
    changed: false,
  },
  {
    why: 'one that does not follow is ended',
    fails: ['commit', null],
    settles: true,
    heard: ['a prepare', 'b prepare', 'settle', 'a commit', 'b commit', 'a killed'],
    changed: true,
  },
  {
    why: 'a change that cannot be settled is taken back',
    fails: [null, null],
    settles: false,
    heard: ['a prepare', 'b prepare', 'settle', 'a abandon', 'b abandon'],
    changed: 'fault',
  },
] as const;

test('a policy comes into force everywhere or nowhere', async () => {
  for (const { why, fails, settles, heard: expected, changed } of expectRows(4, rows)) {
    const heard: string[] = [];
    const workers = [createWorker('a', heard, fails[0]), createWorker('b', heard, fails[1])];
    const settle = async (): Promise<void> => {
      heard.push('settle');
      if (!settles) throw new Error('not recorded');
    };
    const change = await changeGeneration({ next, workers, settle, log }).catch(() => ({ changed: 'fault' }));
    assert.equal(change.changed, changed, why);
    assert.deepEqual(heard, expected, why);
  }
});

test('the refusal names the worker and its reason', async () => {
  const workers = [createWorker('worker-1', []), createWorker('worker-2', [], 'prepare')];
  const change = await changeGeneration({ next, workers, settle: async () => {}, log });
  assert.deepEqual(change, {
    changed: false,
    reason: 'worker-2 could not load it: The saved policy is damaged.',
  });
});

test('tasks run one after another, and one that fails holds up none', async () => {
  const inTurn = openSerialQueue();
  const order: string[] = [];
  const task =
    (name: string, fails = false) =>
    async (): Promise<string> => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const settled = await Promise.allSettled([inTurn(task('a')), inTurn(task('b', true)), inTurn(task('c'))]);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});
