/** The official SDKs of model providers, unmodified: only the address that they ask is another. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startProvider } from '../support/provider/provider.ts';
import { missingFor, openClients } from './clients.ts';
import { LANES, type Lane, LOOKUP_LANES, nameOf } from './lanes.ts';
import { check, KEY, run, type World } from './runs.ts';
import { scenariosOf } from './scenarios.ts';

const provider = await startProvider({ keys: [KEY] });
const clients = openClients();
after(async () => {
  clients.close();
  await provider.close();
});

/** How many scenarios each lane has. */
const COUNTS: Readonly<Record<string, number>> = {
  'openai chat': 25,
  'openai responses': 23,
  'python_openai chat': 25,
  'python_openai responses': 23,
  'anthropic messages': 24,
  'anthropic beta': 23,
  'python_anthropic messages': 24,
  'python_anthropic beta': 23,
  'vercel chat': 25,
  'vercel responses': 23,
  'vercel messages': 24,
  'google generate': 20,
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

/** All scenarios of one lane, one after the other. */
async function runAll(world: World, lane: Lane): Promise<void> {
  const own = scenariosOf(lane);
  assert.equal(own.length, COUNTS[nameOf(lane)], 'scenarios of this lane');
  for (const scenario of own) {
    const outcome = await run(world, lane, scenario);
    try {
      check(scenario, lane, outcome);
    } catch (error) {
      throw new Error(`${nameOf(lane)}: ${scenario.name}: ${(error as Error).message}`, { cause: error });
    }
  }
}

test("the client programs are written as their SDKs' types say", (t) => {
  const missing = missingFor('openai');
  if (missing !== null) return t.skip(missing);
  const tsc = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', join(import.meta.dirname, 'clients')], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
});

test('with nothing between them and the provider', { concurrency: true }, async (t) => {
  const world: World = { clients, provider, base_url: provider.url };
  const lanes = [...LANES, ...LOOKUP_LANES];
  assert.equal(lanes.length, Object.keys(COUNTS).length);
  await Promise.all(
    lanes.map((lane) =>
      t.test(nameOf(lane), { skip: missingFor(lane.client) ?? false }, () => runAll(world, lane)),
    ),
  );
  assert.deepEqual(provider.complaints(), []);
});
