/** The official SDKs of model providers, unmodified except for the base URL. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { isNightly, testNightly } from '../support/nightly.ts';
import { startProvider } from '../support/provider/provider.ts';
import { missingFor, openClients } from './clients.ts';
import { startGateway } from './gateway.ts';
import { LANES, LOOKUP_LANES, nameOf } from './lanes.ts';
import { KEY, type Outcome } from './runs.ts';
import { assertSameRequests } from './same.ts';
import { scenariosOf } from './scenarios.ts';
import { type Look, runTable } from './stage.ts';

const provider = await startProvider({ keys: [KEY] });
const clients = openClients();
after(async () => {
  clients.close();
  await provider.close();
});

/** The number of scenarios of each lane. */
const COUNTS: Readonly<Record<string, number>> = {
  'openai chat': 26,
  'openai responses': 24,
  'python_openai chat': 26,
  'python_openai responses': 24,
  'anthropic messages': 25,
  'anthropic beta': 24,
  'python_anthropic messages': 25,
  'python_anthropic beta': 24,
  'vercel chat': 26,
  'vercel responses': 24,
  'vercel messages': 25,
  'google generate': 21,
  'openai completions': 3,
  'python_openai completions': 3,
  'openai embeddings': 1,
  'python_openai embeddings': 1,
  'openai models': 1,
  'python_openai models': 1,
  'anthropic count_tokens': 1,
  'python_anthropic count_tokens': 1,
  'anthropic models': 1,
  'python_anthropic models': 1,
};

const ALL = [...LANES, ...LOOKUP_LANES];

test('every lane has its scenarios', () => {
  assert.deepEqual(ALL.map(nameOf).sort(), Object.keys(COUNTS).sort());
});

/** The outcome of each scenario on each lane, without a proxy. */
const direct = new Map<string, Outcome>();

/** The JavaScript SDKs' lanes, and one in Python; in the nightly round, all. */
const SAMPLES = ALL.filter(
  (lane) => isNightly || !lane.client.startsWith('python_') || nameOf(lane) === 'python_openai chat',
);

/** Runs the lanes concurrently, and checks how many scenarios each has. */
function runLanes(t: TestContext, baseUrl: string, look: Look): Promise<void> {
  for (const lane of SAMPLES) assert.equal(scenariosOf(lane).length, COUNTS[nameOf(lane)], nameOf(lane));
  return runTable(t, { provider, clients, base_url: baseUrl, lanes: SAMPLES, scenariosOf, look });
}

testNightly('the client programs are written as the types of their SDKs say', {}, (t) => {
  const missing = missingFor('openai');
  if (missing !== null) return t.skip(missing);
  const tsc = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
  const words = [tsc, '-p', join(import.meta.dirname, 'clients')];
  const { status, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});

test('with nothing between them and the provider', { concurrency: true }, (t) =>
  runLanes(t, provider.url, (lane, { name }, outcome) => {
    direct.set(`${nameOf(lane)} ${name}`, outcome);
  }),
);

/**
 * Returns the parts that must not differ. Held text arrives in other pieces, and event numbers continue after an added
 * one.
 */
function comparable(seen: Outcome['seen']): unknown {
  const text = JSON.stringify({ ...seen, pieces: 0 }, (key, value) =>
    key === 'sequence_number' ? 0 : value,
  );
  return JSON.parse(text);
}

test('through the gateway: the clients see the same, and the provider receives the same', {
  concurrency: true,
}, async (t) => {
  const service = await startGateway(provider);
  try {
    await runLanes(t, service.url, (lane, { name }, { seen, exchanges }) => {
      const before = direct.get(`${nameOf(lane)} ${name}`);
      assert.ok(before !== undefined, 'it was run without the gateway too');
      assert.deepEqual(comparable(seen), comparable(before.seen));
      assertSameRequests(lane, before.exchanges, exchanges);
    });
  } finally {
    await service.stop();
  }
});
