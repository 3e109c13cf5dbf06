import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCircuitBreaker } from './circuit-breaker.ts';

function createTestBreaker() {
  const clock = { ms: 0 };
  const breaker = openCircuitBreaker({ failures: 3, window_seconds: 10, open_seconds: 5 }, () => clock.ms);
  const fail = () => breaker.acquire('a')!.failed();
  const lets = (provider: string) => {
    const passage = breaker.acquire(provider);
    passage?.abandoned();
    return passage !== null;
  };
  return { clock, breaker, fail, lets };
}

test('a provider that keeps failing is left alone, and then one call finds out', () => {
  const { clock, breaker, fail, lets } = createTestBreaker();
  fail();
  fail();
  assert.equal(lets('a'), true);
  fail();
  assert.equal(lets('a'), false);
  assert.equal(breaker.acquire('a'), null);
  assert.equal(lets('b'), true, 'another one is another one');
  clock.ms = 5_000;
  const probe = breaker.acquire('a');
  assert.notEqual(probe, null);
  assert.equal(breaker.acquire('a'), null, 'one at a time');
  probe!.failed();
  assert.equal(lets('a'), false, 'for another while');
  clock.ms = 9_999;
  assert.equal(lets('a'), false);
  clock.ms = 10_000;
  breaker.acquire('a')!.succeeded();
  fail();
  fail();
  assert.equal(lets('a'), true, 'what was before is forgotten');
});

test('an aborted probe leaves the state unchanged, and the next call probes again', () => {
  const { clock, breaker, fail, lets } = createTestBreaker();
  for (let count = 0; count < 3; count += 1) fail();
  clock.ms = 5_000;
  const probe = breaker.acquire('a')!;
  probe.abandoned();
  const next = breaker.acquire('a')!;
  assert.notEqual(next, null);
  probe.abandoned();
  assert.equal(breaker.acquire('a'), null, 'the first one has no say any more');
  next.succeeded();
  assert.equal(lets('a'), true);
});

test('failures count together within the window only', () => {
  const { clock, fail, lets } = createTestBreaker();
  for (const at of [0, 6_000, 12_000, 18_000, 24_000]) {
    clock.ms = at;
    fail();
    assert.equal(lets('a'), true, `${at}`);
  }
  clock.ms = 24_500;
  fail();
  assert.equal(lets('a'), false, 'the control: three of them are');
});

test('what was under way when it opened does not keep it open for longer', () => {
  const { clock, breaker, fail, lets } = createTestBreaker();
  const slow = breaker.acquire('a')!;
  for (let count = 0; count < 3; count += 1) fail();
  clock.ms = 4_999;
  slow.failed();
  clock.ms = 5_000;
  assert.equal(lets('a'), true);
});

test('an answer that breaks off after it had begun counts', () => {
  const { breaker, fail, lets } = createTestBreaker();
  fail();
  fail();
  const passage = breaker.acquire('a')!;
  passage.succeeded();
  assert.equal(lets('a'), true);
  passage.failed();
  assert.equal(lets('a'), false);
});

test('failures open it only as a share of all calls', () => {
  const clock = { ms: 0 };
  const settings = { failures: 3, failure_ratio: 0.5, window_seconds: 10, open_seconds: 5 };
  const breaker = openCircuitBreaker(settings, () => clock.ms);
  for (let count = 0; count < 100; count += 1) breaker.acquire('a')!.succeeded();
  for (let count = 0; count < 50; count += 1) breaker.acquire('a')!.failed();
  assert.notEqual(breaker.acquire('a'), null, 'a third of the calls');
  clock.ms = 11_000;
  for (let count = 0; count < 3; count += 1) breaker.acquire('a')!.failed();
  assert.equal(breaker.acquire('a'), null, 'the control: what was before the window counts no more');
  assert.equal(breaker.waitFor('a'), 5_000);
});

test('the only provider of a call is used even while its circuit breaker is open', () => {
  const { breaker, fail } = createTestBreaker();
  for (let count = 0; count < 3; count += 1) fail();
  assert.equal(breaker.acquire('a'), null);
  const passage = breaker.acquire('a', true);
  assert.notEqual(passage, null);
  passage!.succeeded();
  assert.notEqual(breaker.acquire('a'), null, 'it is back');
});
