import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SecretBackend, SecretFailure } from '../../drivers/secrets/backend.ts';
import { openSecrets, SecretReadError, type SecretsParts } from './secrets.ts';

const VALUE = ['value', '5d41'].join('-');

interface BackendRequest {
  readonly key: string;
  readonly answer: (value: string | null) => void;
  readonly fail: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** A fake backend that answers when the test allows it. */
function createSlowBackend(): { backend: SecretBackend; asked: BackendRequest[] } {
  const request: BackendRequest[] = [];
  const backend: SecretBackend = {
    get: (key, signal) =>
      new Promise((answer, fail) => {
        request.push({ key, answer, fail, signal });
      }),
    check: async () => {},
    close: () => {},
  };
  return { backend, asked: request };
}

function openTestSecrets(limits: Partial<SecretsParts> = {}) {
  const { backend, asked: request } = createSlowBackend();
  const clock = { now_ms: 0 };
  const parts = { name: 'plug', backend, timeout_ms: 60_000, cache_ttl_ms: 1_000, cache_entries_max: 2 };
  const secrets = openSecrets({ ...parts, now_ms: () => clock.now_ms, ...limits });
  /** Reads a secret and answers at once. */
  const read = async (key: string, value: string | null): Promise<string | null> => {
    const before = request.length;
    const question = secrets.get(key);
    if (request.length > before) request.at(-1)?.answer(value);
    return question;
  };
  return { secrets, asked: request, clock, read };
}

test('many who ask at once are one question, also when it fails', async () => {
  const { secrets, asked: request } = openTestSecrets();
  const questions = Array.from({ length: 50 }, () => secrets.get('k'));
  assert.equal(request.length, 1);
  request[0]?.answer(VALUE);
  assert.deepEqual(new Set(await Promise.all(questions)), new Set([VALUE]));
  const failing = Array.from({ length: 50 }, () => secrets.get('other'));
  assert.equal(request.length, 2);
  request[1]?.fail(new SecretFailure('secrets_denied', 'denies'));
  for (const outcome of await Promise.allSettled(failing)) assert.equal(outcome.status, 'rejected');
  const again = secrets.get('other');
  assert.equal(request.length, 3);
  request[2]?.answer(VALUE);
  assert.equal(await again, VALUE);
});

test('a value is held from the question on, for its time, and not when it failed', async () => {
  const { asked: request, clock, read } = openTestSecrets();
  assert.equal(await read('k', VALUE), VALUE);
  clock.now_ms = 999;
  assert.equal(await read('k', 'new'), VALUE);
  clock.now_ms = 1_000;
  assert.equal(await read('k', 'new'), 'new');
  assert.equal(request.length, 2);
});

test('a value that came late is as old as its question', async () => {
  const { secrets, asked: request, clock } = openTestSecrets();
  const question = secrets.get('k');
  clock.now_ms = 5_000;
  request[0]?.answer(VALUE);
  assert.equal(await question, VALUE);
  void secrets.get('k');
  assert.equal(request.length, 2);
});

test('that there is none is held for a few seconds at most', async () => {
  const { clock, read, asked: request } = openTestSecrets({ cache_ttl_ms: 3_600_000 });
  assert.equal(await read('k', null), null);
  clock.now_ms = 4_999;
  assert.equal(await read('k', VALUE), null);
  clock.now_ms = 5_000;
  assert.equal(await read('k', VALUE), VALUE);
  clock.now_ms = 3_600_000;
  assert.equal(await read('k', 'new'), VALUE);
  assert.equal(request.length, 2);
});

test('no more values are held than there may be, and those not used for longest go first', async () => {
  const { asked: request, read } = openTestSecrets({ cache_ttl_ms: 1e9 });
  for (const key of ['a', 'b', 'a', 'c']) await read(key, VALUE);
  assert.deepEqual(
    request.map(({ key }) => key),
    ['a', 'b', 'c'],
  );
  await read('a', VALUE);
  assert.equal(request.length, 3);
  await read('b', VALUE);
  assert.equal(request.length, 4);
});

test('with a cache time or size of zero nothing is cached', async () => {
  for (const limits of [{ cache_ttl_ms: 0 }, { cache_entries_max: 0 }]) {
    const { asked: request, read } = openTestSecrets(limits);
    await read('k', VALUE);
    await read('k', VALUE);
    assert.equal(request.length, 2);
  }
});

test('after closing nothing is held', async () => {
  const { secrets, asked: request, read } = openTestSecrets();
  await read('k', VALUE);
  secrets.close();
  void secrets.get('k');
  assert.equal(request.length, 2);
});

test('a fault of a plug is a failure that repeats nothing of it', async () => {
  const { secrets, asked: request } = openTestSecrets();
  const question = secrets.get('k');
  request[0]?.fail(new Error(`cannot parse ${VALUE}`));
  await assert.rejects(question, (error) => {
    assert.ok(error instanceof SecretReadError);
    assert.ok(!JSON.stringify([error.message, error.stack, error.cause ?? '']).includes(VALUE));
    assert.equal(error.message, 'The secret `k` could not be read: the backend `plug` failed.');
    return error.code === 'secrets_unavailable';
  });
});

test('more questions at once than may be are refused, and asked again later', async () => {
  const { secrets, asked: request } = openTestSecrets();
  const first = Array.from({ length: 256 }, (_, n) => secrets.get(`k${n}`));
  await assert.rejects(secrets.get('k256'), SecretReadError);
  for (const each of request) each.answer(VALUE);
  await Promise.all(first);
  const again = secrets.get('k256');
  request.at(-1)?.answer(VALUE);
  assert.equal(await again, VALUE);
});
