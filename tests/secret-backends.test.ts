/** The contract of every secret backend, with the real backend if this machine has it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type SecretBackend, SecretFailure } from '../src/drivers/secrets/backend.ts';
import { openSecrets, SecretReadError } from '../src/runtime/secrets/secrets.ts';
import {
  cloudWorld,
  envWorld,
  pluginWorld,
  vaultWireWorld,
  vaultWorld,
  type World,
} from './support/secrets/worlds.ts';

const VALUES = {
  alpha: ['alpha', 'value', '1f8b2c'].join('-'),
  beta: ['beta', 'väl"ue\n', '77d0'].join('-'),
};
const ROTATED = ['alpha', 'rotated', '93ac'].join('-');

/** A timeout in milliseconds for a busy machine, if an answer is expected. */
const PATIENT_MS = 30_000;
const HASTY_MS = 300;

interface Law {
  readonly name: string;
  /** Restricts the contract to some backends; by default it applies to all. */
  readonly holds?: (world: World) => boolean;
  readonly run: (world: World) => Promise<void>;
}

const get = (backend: SecretBackend, key: string, timeoutMs = PATIENT_MS) =>
  backend.get(key, AbortSignal.timeout(timeoutMs));

/** Returns the failure of a request, and checks that it contains no value and no credential. */
async function getFailure(question: Promise<unknown>, world: World): Promise<SecretFailure> {
  const failure = await question.then(
    () => assert.fail('it answered'),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof SecretFailure, String(failure));
  const told = [failure.message, failure.stack ?? '', JSON.stringify(failure), String(failure.cause)].join();
  for (const text of [...Object.values(VALUES), ROTATED, ...world.credentials])
    assert.ok(!told.includes(text));
  return failure;
}

const laws: readonly Law[] = [
  {
    name: 'what is there is found, as it was put in; what is not there is `null`',
    run: async (world) => {
      const backend = await world.open('right');
      await backend.check(AbortSignal.timeout(PATIENT_MS));
      for (const [key, value] of Object.entries(VALUES)) assert.equal(await get(backend, key), value);
      for (const key of ['gamma', 'Alpha', 'alph', 'constructor', 'beta/alpha', 'alpha#value'])
        assert.equal(await get(backend, key), null, key);
      backend.close();
    },
  },
  {
    name: 'another value is seen with the next question',
    run: async (world) => {
      const backend = await world.open('right');
      assert.equal(await get(backend, 'alpha'), VALUES.alpha);
      await world.put({ ...VALUES, alpha: ROTATED });
      assert.equal(await get(backend, 'alpha'), ROTATED);
      await world.put({ beta: VALUES.beta });
      assert.equal(await get(backend, 'alpha'), null);
      backend.close();
    },
  },
  {
    name: 'credentials that are wrong, or may not read this, are denied',
    holds: ({ refuses }) => refuses.length > 0,
    run: async (world) => {
      for (const credentials of world.refuses) {
        const backend = await world.open(credentials);
        for (const key of ['alpha', 'gamma'])
          assert.equal((await getFailure(get(backend, key), world)).code, 'secrets_denied', credentials);
        if (credentials === 'wrong') {
          const checked = backend.check(AbortSignal.timeout(PATIENT_MS));
          assert.equal((await getFailure(checked, world)).code, 'secrets_denied');
        }
        backend.close();
      }
    },
  },
  {
    name: 'silence ends with the time that was given',
    holds: ({ gate }) => gate !== null,
    run: async (world) => {
      const backend = await world.open('right');
      world.gate?.set('silent');
      assert.equal((await getFailure(get(backend, 'alpha', HASTY_MS), world)).code, 'secrets_timeout');
      const checked = backend.check(AbortSignal.timeout(HASTY_MS));
      assert.equal((await getFailure(checked, world)).code, 'secrets_timeout');
      backend.close();
    },
  },
  {
    name: 'a backend that goes away is unavailable, and answers again when it is back',
    holds: ({ gate }) => gate !== null,
    run: async (world) => {
      const backend = await world.open('right');
      assert.equal(await get(backend, 'alpha'), VALUES.alpha);
      world.gate?.set('shut');
      assert.equal((await getFailure(get(backend, 'alpha'), world)).code, 'secrets_unavailable');
      world.gate?.set('open');
      assert.equal(await get(backend, 'alpha'), VALUES.alpha);
      backend.close();
    },
  },
  {
    name: 'through the cache a rotation is seen when the value is too old, and an old value is never given',
    run: async (world) => {
      let nowMs = 0;
      const limits = { timeout_ms: PATIENT_MS, cache_ttl_ms: 60_000, cache_entries_max: 10 };
      const backend = await world.open('right');
      const secrets = openSecrets({ name: 'b', backend, ...limits, now_ms: () => nowMs });
      assert.equal(await secrets.get('alpha'), VALUES.alpha);
      await world.put({ ...VALUES, alpha: ROTATED });
      nowMs = 59_999;
      assert.equal(await secrets.get('alpha'), VALUES.alpha);
      nowMs = 60_000;
      assert.equal(await secrets.get('alpha'), ROTATED);
      if (world.gate !== null) {
        world.gate.set('shut');
        assert.equal(await secrets.get('alpha'), ROTATED);
        nowMs = 120_000;
        await assert.rejects(secrets.get('alpha'), (error) => {
          assert.ok(error instanceof SecretReadError);
          assert.match(error.message, /^The secret `alpha` could not be read: the backend `b` [^`]+.*\.$/s);
          return error.code === 'secrets_unavailable';
        });
      }
      secrets.close();
    },
  },
];

async function holdAll(world: World, t: TestContext): Promise<number> {
  const own = laws.filter(({ holds }) => holds?.(world) ?? true);
  try {
    for (const law of own) {
      world.gate?.set('open');
      await world.put(VALUES);
      await t.test(law.name, () => law.run(world));
    }
  } finally {
    await world.close();
  }
  t.diagnostic(`${own.length} laws hold for ${world.name}`);
  return own.length;
}

test('env', async (t) => assert.equal(await holdAll(await envWorld(), t), 3));
test('plugin: the example that reads files', async (t) =>
  assert.equal(await holdAll(await pluginWorld(), t), 3));
test('vault, on the wire', async (t) => assert.equal(await holdAll(await vaultWireWorld(), t), 6));

test('cloud: the SDK of AWS against moto', async (t) => {
  const world = await cloudWorld();
  if (world === null) return t.skip('moto is not installed (scripts/run scripts/components/main.ts moto)');
  assert.equal(await holdAll(world, t), laws.length);
});

// No registry has it, so its absence is not a skipped test. If the program is installed, it is tested.
const program = await vaultWorld();
if (program !== null)
  test('vault, the program', async (t) => assert.equal(await holdAll(program, t), laws.length));
