import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBreaker } from './breaker.ts';

test('how a provider stands is told when it changes, and not otherwise', () => {
  let now_ms = 0;
  const told: string[] = [];
  const settings = { failures: 2, window_seconds: 60, open_seconds: 10 };
  const breaker = openBreaker(
    settings,
    () => now_ms,
    (provider, state) => told.push(`${provider} ${state}`),
  );
  const all = (): string[] => told.splice(0);
  breaker.enter('main')?.succeeded();
  breaker.enter('main')?.failed();
  assert.deepEqual(all(), ['main closed']);
  breaker.enter('main')?.failed();
  assert.deepEqual(all(), ['main open']);
  assert.equal(breaker.enter('main'), null);
  now_ms = 10_000;
  breaker.enter('main')?.left();
  breaker.enter('main')?.failed();
  assert.deepEqual(all(), ['main half_open', 'main open', 'main half_open', 'main open']);
  now_ms = 20_000;
  breaker.enter('main')?.succeeded();
  assert.deepEqual(all(), ['main half_open', 'main closed']);
});
