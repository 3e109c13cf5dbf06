import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLazyValue } from './lazy.ts';

test('a value is opened once for all callers, and a failed opening is retried', async () => {
  const outcomes: (() => Promise<number>)[] = [
    () => Promise.reject(new Error('first')),
    () => Promise.reject(new Error('second')),
    async () => 7,
  ];
  let opened = 0;
  const closed: number[] = [];
  const value = createLazyValue(() => outcomes[opened++]!());
  await value.ifOpened((one) => closed.push(one));
  assert.equal(opened, 0);
  await assert.rejects(Promise.all([value.open(), value.open()]), /first/);
  assert.equal(opened, 1);
  await value.ifOpened((one) => closed.push(one));
  await assert.rejects(value.open(), /second/);
  assert.deepEqual(await Promise.all([value.open(), value.open(), value.open()]), [7, 7, 7]);
  assert.equal(opened, 3);
  assert.equal(await value.open(), 7);
  await value.ifOpened((one) => closed.push(one));
  assert.deepEqual(closed, [7]);
});
