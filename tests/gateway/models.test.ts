/** Official SDKs list the models behind several providers and an alias. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type ProviderHandler,
  startTestProvider,
  type TestProvider,
} from '../../src/gateways/upstream/testing/test-provider.ts';
import { freePort, startTestService } from '../support/service.ts';
import type { ClientReading } from './clients/ask.ts';
import { type ClientName, missingFor, openClients } from './clients.ts';
import { LOOKUP_LANES } from './lanes.ts';
import { getAsk } from './runs.ts';

const clients = openClients();
after(() => clients.close());

const SDKS = ['openai', 'python_openai', 'anthropic', 'python_anthropic'] as const satisfies ClientName[];
const missing = SDKS.map(missingFor).find((each) => each !== null) ?? false;

/** Has these models, and answers for one or all of them in the format of the called API. */
function having(...ids: readonly string[]): ProviderHandler {
  return (response, { path, headers }) => {
    const isAnthropic = headers.some((each) => each.toLowerCase() === 'anthropic-version');
    const written = (id: string) =>
      isAnthropic
        ? { type: 'model', id, display_name: id, created_at: '2026-06-17T00:00:00Z' }
        : { id, object: 'model', created: 1_773_705_600, owned_by: 'system' };
    const [, one] = /^\/v1\/models\/([^?]+)/.exec(path) ?? [];
    const data = ids.map(written);
    const ends = isAnthropic
      ? { has_more: false, first_id: ids[0], last_id: ids.at(-1) }
      : { object: 'list' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(one === undefined ? { data, ...ends } : written(decodeURIComponent(one))));
  };
}

test('the SDKs list aliases and the models of all providers, and retrieve each of them', {
  skip: missing,
}, async (t) => {
  const first = await startTestProvider(t, having('big', 'both'));
  const second = await startTestProvider(t, having('both', 'org/small'));
  const deadUrl = `http://127.0.0.1:${await freePort()}`;
  const at = (name: string, url: string) =>
    (['openai', 'anthropic'] as const).map((family) => ({
      name: `${name}-${family}`,
      family,
      base_url: url,
    }));
  const fast = ['openai', 'anthropic'].map((family) => ({
    provider: `second-${family}`,
    model: 'org/small',
  }));
  const service = await startTestService({
    config: {
      proxy: {
        providers: [...at('dead', deadUrl), ...at('first', first.url), ...at('second', second.url)],
        models: { fast },
        retry: { max_attempts: 1 },
      },
    },
    workers: 1,
  });
  t.after(() => service.stop());
  const lane = LOOKUP_LANES[0]!;
  const ask = (client: ClientName, api: 'models' | 'model', model: string): Promise<ClientReading> =>
    clients.ask(client, getAsk({ ...lane, api, model }, service.url, {}));
  const askedBefore = (provider: TestProvider): number => provider.requests.length;
  for (const sdk of SDKS) {
    const { list, error } = await ask(sdk, 'models', '');
    assert.deepEqual([list, error], [['fast', 'big', 'both', 'org/small'], null], sdk);
    const before = [first, second].map(askedBefore);
    const alias = await ask(sdk, 'model', 'fast');
    assert.deepEqual([alias.list, alias.error], [['fast', 'model'], null], sdk);
    assert.deepEqual([first, second].map(askedBefore), before, 'an alias is answered here');
    const passed = await ask(sdk, 'model', 'org/small');
    assert.deepEqual([passed.list, passed.error], [['org/small', 'model'], null], sdk);
    assert.equal(first.requests.at(-1)?.path, '/v1/models/org%2Fsmall');
  }
  assert.equal(SDKS.length, 4);
});
