// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
/** Several providers behind one address: keys that agents never receive, and the provider that answers if one fails. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startProvider } from '../support/provider/provider.ts';
import { freePort, type TestService } from '../support/service.ts';
import { missingFor, openClients } from './clients.ts';
import { startGateway } from './gateway.ts';
import { SAMPLE_LANES } from './lanes.ts';
import { KEY } from './runs.ts';
import { type Scenario, step, TEXT } from './scenarios.ts';
import { runTable } from './stage.ts';

/** Keys of the service, which only the second provider accepts. */
const OWN_KEY = ['own', 'key', '9876'].join('-');

const first = await startProvider({ keys: [KEY] });
const second = await startProvider({ keys: [OWN_KEY] });
const clients = openClients();
let service: TestService | undefined;

before(async () => {
  const families = ['openai', 'anthropic', 'gemini'] as const;
  const deadUrl = `http://127.0.0.1:${await freePort()}`;
  const at = (name: string, url: string, priority: number, apiKey?: string) =>
    families.map((family) => ({
      name: `${name}-${family}`,
      family,
      base_url: url,
      priority,
      ...(apiKey !== undefined && { api_key: apiKey }),
    }));
  const providers = [
    ...at('dead', deadUrl, 0),
    ...at('first', first.url, 1),
    ...at('second', second.url, 2, '${OWN_KEY}'),
  ];
  service = await startGateway(first, {
    env: { OWN_KEY },
    proxy: { providers, retry: { max_attempts: 3, backoff_factor: 0.01 } },
  });
});
after(async () => {
  clients.close();
  await service?.stop();
  await Promise.all([first.close(), second.close()]);
});

function answer(name: string, recording: 'plain' | 'plain.stream', steps: Scenario['steps']): Scenario {
  const isStream = recording !== 'plain';
  return {
    name,
    ask: { is_stream: isStream, max_retries: 0 },
    steps,
    // A key at its limit is in cooldown, and for a while the other keys are used before it.
    requests: null,
    expect: ({ family, finish, usage_is_asked }) => ({
      text: TEXT,
      finish: finish.stop,
      usage: isStream && usage_is_asked ? null : family === 'gemini' ? [9, 14] : [38, 14],
      turns: 1,
    }),
  };
}

const SCENARIOS: readonly Scenario[] = [
  answer('the first is dead, the second answers', 'plain', step('plain')),
  answer('the second is overloaded, the third answers', 'plain', ({ family }) => [
    { recording: `${family}/errors/500` },
  ]),
  answer('the second is at its limit, the third answers in a stream', 'plain.stream', ({ family }) => [
    { recording: `${family}/errors/429` },
  ]),
  answer(
    'the second breaks off before its answer, the third streams',
    'plain.stream',
    step('plain.stream', { fault: { after: 0, kind: 'reset' } }),
  ),
];

test('whichever provider fails, the SDK sees an answer', { concurrency: true }, async (t) => {
  await runTable(t, {
    provider: first,
    clients,
    base_url: service!.url,
    lanes: SAMPLE_LANES,
    scenariosOf: () => SCENARIOS,
  });
});

test('the failed providers were tried first', { skip: missingFor('google') ?? false }, () => {
  const asked = new Set(first.received().map(({ recording }) => recording));
  for (const family of ['openai', 'anthropic', 'gemini'])
    for (const status of ['500', '429'])
      assert.ok(asked.has(`${family}/errors/${status}`), `${family} ${status}`);
  assert.ok(first.received().some(({ is_reset }) => is_reset));
  assert.ok(second.received().length > 0);
});

test('each key goes to its own provider and to no other', { skip: missingFor('google') ?? false }, () => {
  const keysAt = (provider: typeof first) =>
    new Set(
      provider.received().map(({ headers }) => {
        const own = headers['x-api-key'] ?? headers['x-goog-api-key'];
        return own ?? headers.authorization?.replace('Bearer ', '');
      }),
    );
  assert.deepEqual([...keysAt(first)], [KEY]);
  assert.deepEqual([...keysAt(second)], [OWN_KEY]);
  assert.deepEqual(second.complaints(), []);
});
