import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSse } from '../sse.ts';
import type { ProviderFamily, WireError } from '../types.ts';
import { formats } from './index.ts';

const BLOCKED: WireError = {
  status: 403,
  code: 'policy_violation',
  message: 'Blocked: "x"\nand more.',
  request_id: 'req_1',
  beside: { decision: 'block', violations: [{ rule: 'x' }], event_id: 'evt_1' },
};

/** Where each provider's clients look for what happened. */
const SHOWN: Readonly<Record<ProviderFamily, (body: Record<string, unknown>) => unknown>> = {
  openai: (body) => {
    const { message, type, param, code, decision } = body.error as Record<string, unknown>;
    return { message, type, param, code, decision };
  },
  anthropic: ({ type, error, request_id }) => ({ type, error, request_id }),
  gemini: ({ error }) => error,
};

const EXPECTED: Readonly<Record<ProviderFamily, unknown>> = {
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
      type: 'permission_error',
      message: BLOCKED.message,
      details: { error_code: 'policy_violation' },
    },
    request_id: 'req_1',
  },
  gemini: {
    code: 403,
    message: BLOCKED.message,
    status: 'PERMISSION_DENIED',
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'POLICY_VIOLATION' }],
  },
};

test('an error has the shape of its provider, with what else is known at the top', () => {
  for (const format of formats) {
    const body = JSON.parse(format.errorBody(BLOCKED));
    assert.deepEqual(SHOWN[format.family](body), EXPECTED[format.family], format.name);
    for (const [key, value] of Object.entries(BLOCKED.beside)) assert.deepEqual(body[key], value);
    assert.equal(body.request_id, 'req_1');
  }
});

test('an error ends a stream as one event that says the same', () => {
  for (const format of formats) {
    const { events } = openSse({ event_units_max: 10_000 }).read(format.errorEvents(BLOCKED));
    assert.equal(events.length, 1);
    const { name, data } = events[0]!;
    assert.deepEqual(SHOWN[format.family](JSON.parse(data)), EXPECTED[format.family], format.name);
    const is_named = format.family === 'anthropic' || format.name === 'openai.responses';
    assert.equal(name, is_named ? 'error' : '');
    assert.equal(format.openEvents().read(events[0]!)?.pieces.length, 0);
  }
});

/** What a status is called by each provider. */
const STATUSES: readonly (readonly [number, string, string, string, string])[] = [
  [400, 'invalid_request', 'invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT'],
  [401, 'unauthenticated', 'invalid_request_error', 'authentication_error', 'UNAUTHENTICATED'],
  [404, 'not_found', 'invalid_request_error', 'not_found_error', 'NOT_FOUND'],
  [413, 'too_large', 'invalid_request_error', 'request_too_large', 'INVALID_ARGUMENT'],
  [429, 'insufficient_quota', 'insufficient_quota', 'billing_error', 'RESOURCE_EXHAUSTED'],
  [429, 'rate_limited', 'rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  [500, 'internal', 'server_error', 'api_error', 'INTERNAL'],
  [502, 'upstream_unavailable', 'server_error', 'api_error', 'INTERNAL'],
  [503, 'upstream_unavailable', 'server_error', 'api_error', 'UNAVAILABLE'],
  [504, 'upstream_timeout', 'server_error', 'timeout_error', 'DEADLINE_EXCEEDED'],
  [529, 'overloaded', 'server_error', 'overloaded_error', 'INTERNAL'],
];

test('every status has the word that the provider has for it', () => {
  for (const [status, code, openai, anthropic, gemini] of STATUSES) {
    for (const { family, errorBody } of formats) {
      const { error } = JSON.parse(errorBody({ ...BLOCKED, status, code }));
      const word = family === 'gemini' ? error.status : error.type;
      assert.equal(word, { openai, anthropic, gemini }[family], `${family} ${status}`);
    }
  }
  assert.equal(STATUSES.length, 11);
});
