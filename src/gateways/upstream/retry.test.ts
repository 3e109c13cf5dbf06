import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeRetryDelay, isOutage, isRetryable, parseRetryAfter } from './retry.ts';

const answer = (status: number, ...headers: string[]) => ({ status, headers });

test('tried again is what the official clients try again', () => {
  const again = {
    openai: [408, 409, 429, 500, 501, 502, 503, 504, 529],
    gemini: [408, 429, 500, 502, 503, 504],
  };
  let ran = 0;
  for (const family of ['openai', 'anthropic', 'gemini', null] as const) {
    const statuses = family === 'gemini' ? again.gemini : again.openai;
    for (let status = 200; status < 600; status += 1) {
      assert.equal(
        isRetryable(answer(status), family),
        statuses.includes(status) || (status >= 500 && family !== 'gemini'),
        `${family} ${status}`,
      );
      ran += 1;
    }
  }
  assert.equal(ran, 1_600);
});

test('the provider has the last word, and no answer at all is tried again', () => {
  assert.equal(isRetryable(answer(500, 'X-Should-Retry', 'false'), 'openai'), false);
  assert.equal(isRetryable(answer(400, 'x-should-retry', 'true'), 'openai'), true);
  assert.equal(isRetryable(answer(200, 'x-should-retry', 'true'), 'openai'), false);
  for (const failure of ['upstream_unreachable', 'upstream_timeout', 'upstream_broken'] as const)
    assert.deepEqual([isRetryable({ failure }, null), isOutage({ failure })], [true, true]);
  for (const failure of ['aborted', 'invalid_request', 'answer_too_large'] as const)
    assert.deepEqual([isRetryable({ failure }, null), isOutage({ failure })], [false, false]);
  assert.deepEqual(
    [429, 499, 500, 529].map((status) => isOutage(answer(status))),
    [false, false, true, true],
  );
});

const DATE = 'Sat, 21 Nov 2026 12:00:00 GMT';

test('what a provider asks for is read in all ways in which it is written', () => {
  const rows: readonly (readonly [readonly string[], number | null])[] = [
    [['retry-after', '2'], 2_000],
    [['Retry-After', '1.5'], 1_500],
    [['retry-after-ms', '250', 'retry-after', '2'], 250],
    [['retry-after', 'Sat, 21 Nov 2026 12:00:07 GMT', 'date', DATE], 7_000],
    [['retry-after', 'Sat, 21 Nov 2026 11:00:00 GMT', 'date', DATE], 0],
    [['retry-after', 'Sat, 21 Nov 2026 12:00:07 GMT'], null],
    [['retry-after', 'soon', 'date', DATE], null],
    [['retry-after', '-1'], null],
    [['retry-after-ms', '1e9'], null],
    [[], null],
  ];
  for (const [headers, wanted] of rows) assert.equal(parseRetryAfter(headers), wanted, headers.join());
  assert.equal(rows.length, 10);
});

test('a retry delay is random up to a bound that doubles, and `Retry-After` takes precedence', () => {
  const failed = { failure: 'upstream_broken' } as const;
  assert.deepEqual(
    [0, 1, 2, 9].map((round) => computeRetryDelay(round, failed, 0.5, () => 0.5)),
    [250, 500, 1_000, 4_000],
  );
  assert.equal(
    computeRetryDelay(3, failed, 0.5, () => 0),
    0,
  );
  assert.equal(
    computeRetryDelay(0, answer(429, 'retry-after', '60'), 0.5, () => 0.5),
    60_000,
  );
  assert.equal(
    computeRetryDelay(0, answer(429, 'retry-after', '61'), 0.5, () => 0.5),
    null,
  );
});
