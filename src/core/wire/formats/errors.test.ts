import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiFamilyName } from '../families/index.ts';
import { createSseReader } from '../sse.ts';
import type { WireError } from '../wire-format.ts';
import { wireFormats } from './index.ts';

const BLOCKED: WireError = {
  status: 400,
  code: 'policy_violation',
  message: 'Blocked: "x"\nand more.',
  request_id: 'req_1',
  extra: { decision: 'block', violations: [{ rule: 'x' }], event_id: 'evt_1' },
};

/** Returns the provider's own fields of an error. */
function omitExtra(error: unknown): unknown {
  const kept = Object.entries(error as object).filter(([key]) => !(key in BLOCKED.extra));
  return Object.fromEntries(kept);
}

/** Returns the part of an error body that each provider's clients read. */
const SHOWN: Readonly<Record<ApiFamilyName, (body: Record<string, unknown>) => unknown>> = {
  openai: (body) => {
    const { message, type, param, code, decision } = body.error as Record<string, unknown>;
    return { message, type, param, code, decision };
  },
  anthropic: ({ type, error, request_id }) => ({ type, error: omitExtra(error), request_id }),
  gemini: ({ error }) => omitExtra(error),
};

const EXPECTED: Readonly<Record<ApiFamilyName, unknown>> = {
  openai: {
    message: BLOCKED.message,
    type: 'invalid_request_error',
    param: null,
    code: 'policy_violation',
    decision: 'block',
  },
  anthropic: {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: BLOCKED.message,
      details: { error_code: 'policy_violation' },
    },
    request_id: 'req_1',
  },
  gemini: {
    code: 400,
    message: BLOCKED.message,
    status: 'INVALID_ARGUMENT',
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'POLICY_VIOLATION' }],
  },
};

test('an error has the shape of its provider, with what else is known at the top', () => {
  for (const format of wireFormats) {
    const body = JSON.parse(format.errorBody(BLOCKED));
    assert.deepEqual(SHOWN[format.family](body), EXPECTED[format.family], format.name);
    for (const [key, value] of Object.entries(BLOCKED.extra)) {
      assert.deepEqual(body[key], value);
      assert.deepEqual(body.error[key], value);
    }
    if (format.family === 'gemini') assert.ok(format.errorBody(BLOCKED).startsWith('{"error":'));
    assert.equal(body.request_id, 'req_1');
  }
});

test('an error ends a stream as one event that says the same', () => {
  for (const format of wireFormats) {
    const { events } = createSseReader({ event_units_max: 10_000 }).read(format.errorEvents(BLOCKED));
    assert.equal(events.length, 1);
    const { name, data } = events[0]!;
    assert.deepEqual(SHOWN[format.family](JSON.parse(data)), EXPECTED[format.family], format.name);
    const isNamed = format.family === 'anthropic' || format.name === 'openai.responses';
    assert.equal(name, isNamed ? 'error' : '');
    assert.equal(format.openEvents().read(events[0]!)?.pieces.length, 0);
  }
});

/** The error type or status name that each provider uses for an HTTP status. */
const STATUSES: readonly (readonly [number, string, string, string, string])[] = [
  [400, 'invalid_request', 'invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT'],
  [401, 'unauthenticated', 'invalid_request_error', 'authentication_error', 'UNAUTHENTICATED'],
  [404, 'not_found', 'invalid_request_error', 'not_found_error', 'NOT_FOUND'],
  [413, 'too_large', 'invalid_request_error', 'request_too_large', 'INVALID_ARGUMENT'],
  [400, 'budget_exceeded', 'invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT'],
  [429, 'rate_limited', 'rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  [500, 'internal', 'server_error', 'api_error', 'INTERNAL'],
  [502, 'upstream_unavailable', 'server_error', 'api_error', 'INTERNAL'],
  [503, 'upstream_unavailable', 'server_error', 'api_error', 'UNAVAILABLE'],
  [504, 'upstream_timeout', 'server_error', 'timeout_error', 'DEADLINE_EXCEEDED'],
  [529, 'overloaded', 'server_error', 'overloaded_error', 'INTERNAL'],
];

test('every status has the word that the provider has for it', () => {
  for (const [status, code, openai, anthropic, gemini] of STATUSES) {
    for (const { family, errorBody } of wireFormats) {
      const { error } = JSON.parse(errorBody({ ...BLOCKED, status, code }));
      const word = family === 'gemini' ? error.status : error.type;
      assert.equal(word, { openai, anthropic, gemini }[family], `${family} ${status}`);
    }
  }
  assert.equal(STATUSES.length, 11);
});

const getData = (text: string) => createSseReader({ event_units_max: 100_000 }).read(text).events;

test('a block of chat completions ends with a code at which no client tries again', () => {
  for (const name of ['openai.chat', 'openai.completions'] as const) {
    const format = wireFormats.find((each) => each.name === name)!;
    const [event, ...rest] = getData(format.openEnding().denialEvents(BLOCKED));
    const { error } = JSON.parse(event!.data);
    assert.deepEqual([rest.length, error.code, error.error_code], [0, 'content_filter', 'policy_violation']);
    assert.deepEqual([error.message, error.decision], [BLOCKED.message, 'block']);
  }
});

test('a block of messages is a finished message that says why, whatever went out before', () => {
  const { openEnding } = wireFormats.find(({ name }) => name === 'anthropic.messages')!;
  const start = { type: 'message_start', message: { id: 'm1' } };
  const open = { type: 'content_block_start', index: 0, content_block: { type: 'thinking' } };
  const text = {
    type: 'content_block_delta',
    index: 0,
    delta: { text: '"content_block_stop" {"index": 0}' },
  };
  const close = { type: 'content_block_stop', index: 0 };
  const rows = [
    { before: [], types: ['message_start', 'content_block_start'], index: 0 },
    { before: [start], types: ['content_block_start'], index: 0 },
    { before: [start, open, text], types: ['content_block_stop', 'content_block_start'], index: 1 },
    { before: [start, open, text, close], types: ['content_block_start'], index: 1 },
  ];
  for (const { before, types, index } of rows) {
    const ending = openEnding();
    for (const event of before) assert.equal(ending.forward(JSON.stringify(event)), JSON.stringify(event));
    const events = getData(ending.denialEvents(BLOCKED)).map(({ name, data }) => ({
      name,
      ...JSON.parse(data),
    }));
    const tail = ['content_block_delta', 'content_block_stop', 'message_delta', 'message_stop'];
    assert.deepEqual(
      events.map(({ type }) => type),
      [...types, ...tail],
    );
    assert.ok(events.every(({ name, type }) => name === type));
    const [delta, stop, finished] = events.slice(-4);
    assert.deepEqual([delta.index, delta.delta.text, stop.index], [index, BLOCKED.message, index]);
    assert.deepEqual(
      [finished.delta.stop_reason, finished.decision, finished.error_code],
      ['end_turn', 'block', 'policy_violation'],
    );
  }
  assert.equal(rows.length, 4);
});

test('a block of the Responses API is an error event and a failed response, numbered on from what went out', () => {
  const { openEnding } = wireFormats.find(({ name }) => name === 'openai.responses')!;
  const ending = openEnding();
  const created = { type: 'response.created', sequence_number: 0, response: { id: 'r1', output: [] } };
  ending.forward(JSON.stringify(created));
  const numbers = [3, 4, 4, 5, 9].map((sequenceNumber) => {
    const data = JSON.stringify({ type: 'x', delta: '"sequence_number":1', sequence_number: sequenceNumber });
    return JSON.parse(ending.forward(data)).sequence_number;
  });
  assert.deepEqual(numbers, [3, 4, 5, 6, 9]);
  const nested = ending.forward('{"a":{"sequence_number":1},"sequence_number":9}');
  assert.deepEqual(JSON.parse(nested), { a: { sequence_number: 1 }, sequence_number: 10 });
  const [error, failed] = getData(ending.denialEvents(BLOCKED)).map(({ data }) => JSON.parse(data));
  assert.deepEqual(
    [error.type, error.code, error.sequence_number, error.decision],
    ['error', 'policy_violation', 11, 'block'],
  );
  assert.deepEqual([failed.type, failed.sequence_number, failed.decision], ['response.failed', 12, 'block']);
  assert.deepEqual(failed.response, {
    id: 'r1',
    output: [],
    status: 'failed',
    error: { code: 'invalid_prompt', message: BLOCKED.message },
    incomplete_details: null,
  });
});

test('a block of Gemini says why in a last piece of text, and is an error behind it', () => {
  const { openEnding } = wireFormats.find(({ name }) => name === 'gemini.generate')!;
  const ending = openEnding();
  const [piece, error, ...rest] = getData(ending.denialEvents(BLOCKED)).map(({ data }) => data);
  const [candidate] = JSON.parse(piece!).candidates;
  assert.deepEqual([candidate.content.parts, candidate.finishReason], [[{ text: BLOCKED.message }], 'STOP']);
  assert.ok(error!.startsWith('{"error":'));
  assert.equal(rest.length, 0);
  const [failed, ...more] = getData(ending.errorEvents({ ...BLOCKED, status: 502 }));
  assert.deepEqual([JSON.parse(failed!.data).error.code, more.length], [502, 0]);
});
