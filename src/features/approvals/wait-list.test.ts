import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalRecord } from './types.ts';
import { openWaitList } from './wait-list.ts';

const record = (requestId: string, status: ApprovalRecord['status']) =>
  ({ request_id: requestId, status }) as ApprovalRecord;

/** Requests that are pending until they are in `decided`. Each poll is recorded. */
function openTestApprovals() {
  const decided = new Set<string>();
  const looks: (readonly string[])[] = [];
  const waiting = openWaitList(async (ids) => {
    looks.push(ids);
    return ids.map((id) => record(id, decided.has(id) ? 'approved' : 'pending'));
  });
  return { decided, looks, waiting };
}

const getStatus = (waited: { waited: boolean; record?: ApprovalRecord | null }) => waited.record?.status;

test('many who wait for few requests are one question at a time', async () => {
  const { decided, looks, waiting } = openTestApprovals();
  const all = Array.from({ length: 200 }, (_, at) => waiting.wait(`r-${at % 4}`, 30_000, null));
  await new Promise((resolve) => setTimeout(resolve, 600));
  for (const at of [0, 1, 2, 3]) decided.add(`r-${at}`);
  for (const each of await Promise.all(all)) assert.equal(getStatus(each), 'approved');
  const first = looks.slice(0, 200);
  assert.ok(first.every((ids) => ids.length === 1));
  const later = looks.slice(200);
  assert.ok(later.length >= 1 && later.length <= 20, `${later.length} looks`);
  assert.ok(later.every((ids) => ids.length === 4));
});

test('a thousand may wait, the next may not, and each place becomes free again', async () => {
  const { decided, waiting } = openTestApprovals();
  const gone = new AbortController();
  const all = Array.from({ length: 1_000 }, () => waiting.wait('r', 30_000, gone.signal));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(await waiting.wait('r', 30_000, null), { waited: false, cause: 'too_many' });
  gone.abort();
  for (const each of await Promise.all(all)) assert.equal(getStatus(each), 'pending');
  const next = waiting.wait('r', 30_000, null);
  decided.add('r');
  assert.equal(getStatus(await next), 'approved');
});

test('a look that fails ends the waiting, and later ones wait again', async () => {
  let fault: Error | null = null;
  let status: ApprovalRecord['status'] = 'pending';
  const waiting = openWaitList(async ([id]) => {
    if (fault !== null) throw fault;
    return [record(id!, status)];
  });
  const first = waiting.wait('r', 30_000, null);
  await new Promise((resolve) => setTimeout(resolve, 20));
  fault = new Error('the store is away');
  await assert.rejects(first, /the store is away/);
  fault = null;
  const second = waiting.wait('r', 30_000, null);
  status = 'denied';
  assert.equal(getStatus(await second), 'denied');
});

test('a caller that does not wait, or is released, gets the present state', async () => {
  const { waiting } = openTestApprovals();
  assert.equal(getStatus(await waiting.wait('r', 0, null)), 'pending');
  assert.equal(getStatus(await waiting.wait('r', 30_000, AbortSignal.abort())), 'pending');
  const waits = waiting.wait('r', 30_000, null);
  await new Promise((resolve) => setTimeout(resolve, 20));
  waiting.release();
  assert.equal(getStatus(await waits), 'pending');
  assert.equal(getStatus(await waiting.wait('r', 30_000, null)), 'pending');
});

test('only a hint about a waiting request reads it immediately', async () => {
  const { decided, looks, waiting } = openTestApprovals();
  const waited = waiting.wait('r', 30_000, null);
  await new Promise((resolve) => setImmediate(resolve));
  waiting.look('other');
  decided.add('r');
  for (let times = 0; times < 5; times++) waiting.look('r');
  assert.equal(getStatus(await waited), 'approved');
  assert.deepEqual(looks, [['r'], ['r']], 'the first look of the caller, and one for all words');
  waiting.look('r');
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(looks.length, 2);
});
