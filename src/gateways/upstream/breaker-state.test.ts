import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCircuitBreaker } from './circuit-breaker.ts';

test('the state of a circuit breaker is reported only when it changes', () => {
  let nowMs = 0;
  const report: string[] = [];
  const settings = { failures: 2, window_seconds: 60, open_seconds: 10 };
  const breaker = openCircuitBreaker(
    settings,
    () => nowMs,
    (provider, state) => report.push(`${provider} ${state}`),
  );
  const all = (): string[] => report.splice(0);
  breaker.acquire('main')?.succeeded();
  breaker.acquire('main')?.failed();
  assert.deepEqual(all(), ['main closed']);
  breaker.acquire('main')?.failed();
  assert.deepEqual(all(), ['main open']);
  assert.equal(breaker.acquire('main'), null);
  nowMs = 10_000;
  breaker.acquire('main')?.abandoned();
  breaker.acquire('main')?.failed();
  assert.deepEqual(all(), ['main half_open', 'main open', 'main half_open', 'main open']);
  nowMs = 20_000;
  breaker.acquire('main')?.succeeded();
  assert.deepEqual(all(), ['main half_open', 'main closed']);
});
