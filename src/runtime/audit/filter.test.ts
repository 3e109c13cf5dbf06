import assert from 'node:assert/strict';
import test from 'node:test';
import { AuditFilterError, parseDuration, parseFilter } from './filter.ts';
import type { AuditFilter } from './types.ts';

const NOW_MS = Date.parse('2026-01-31T12:00:00.000Z');

test('durations are a whole number and a unit', () => {
  const cases: [string, number | null][] = [
    ['30s', 30_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
    [' 1h ', 3_600_000],
    ['0s', 0],
    ['', null],
    ['7', null],
    ['d', null],
    ['1.5h', null],
    ['-1h', null],
    ['1y', null],
    ['7 d', null],
    ['1H', null],
    ['999999999999w', null],
    [`${'9'.repeat(400)}d`, null],
  ];
  for (const [text, ms] of cases) assert.equal(parseDuration(text), ms, text);
});

test('times are ISO 8601, in UTC when they name no zone, or a duration before now', () => {
  const cases: [string, string][] = [
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.123456+00:00', '2026-01-31T12:00:00.123Z'],
    ['2026-01-31T14:00:00+02:00', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T14:00:00+0200', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31 12:00', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['1h', '2026-01-31T11:00:00.000Z'],
  ];
  for (const [text, iso] of cases) {
    assert.equal(new Date(parseFilter({ since: text }, NOW_MS).since_ms!).toISOString(), iso, text);
    assert.equal(new Date(parseFilter({ until: text }, NOW_MS).until_ms!).toISOString(), iso, text);
  }
});

test('`last` overrides since and until', () => {
  const filter = parseFilter({ last: '1h', since: '2020-01-01', until: '2020-01-02' }, NOW_MS);
  assert.deepEqual([filter.since_ms, filter.until_ms], [NOW_MS - 3_600_000, NOW_MS]);
});

test('what cannot be used is refused with the field and what it takes, and never with the value', () => {
  const SECRET = 'hunter2';
  const bad: [keyof AuditFilter, unknown, RegExp][] = [
    ['last', SECRET, /duration/],
    ['last', '', /text of 1/],
    ['since', SECRET, /ISO 8601/],
    ['since', '2026-13-01', /ISO 8601/],
    ['since', '2026-01-31T25:00:00Z', /ISO 8601/],
    ['until', 'yesterday', /ISO 8601/],
    ['limit', 0, /1 to 10000/],
    ['limit', -1, /1 to 10000/],
    ['limit', 10_001, /1 to 10000/],
    ['limit', 1.5, /1 to 10000/],
    ['limit', Number.NaN, /1 to 10000/],
    ['boundary', SECRET, /input, output, action, memory/],
    ['action', 'approve', /allow, flag, redact/],
    ['decision', 'deny', /allow, block, modify/],
    ['data_tag', 'personal.*', /dotted name/],
    ['data_tag', `${SECRET} `.repeat(100), /dotted name|characters/],
    ['metadata_value', SECRET, /metadata_key/],
    ['agent_id', 'x'.repeat(1_025), /1024 characters/],
    ['agent_id', 3, /text/],
  ];
  for (const [field, value, message] of bad) {
    assert.throws(
      () => parseFilter({ [field]: value } as AuditFilter, NOW_MS),
      (error: unknown) => {
        assert.ok(error instanceof AuditFilterError, field);
        assert.deepEqual([error.code, error.details[0]?.path], ['invalid_request', field]);
        assert.match(error.message, message);
        assert.ok(!error.message.includes(SECRET));
        return true;
      },
      `${field}`,
    );
  }
  assert.equal(bad.length, 19);
});

test('without limits there are a hundred, the newest first', () => {
  const filter = parseFilter({}, NOW_MS);
  assert.deepEqual(
    [filter.limit, filter.newest_first, filter.since_ms, filter.until_ms],
    [100, true, null, null],
  );
});
