import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { intelligenceSection } from '../../features/advisors/settings.ts';
import type { AdvisoryLayer } from '../../features/advisors/types.ts';
import { ModelFailure } from '../../operations/model-backend.ts';
import { ensureToken } from '../../runtime/access/tokens.ts';
import { sampleEvent } from '../../runtime/audit/testing/audit-log.ts';
import { parseConfigValue } from '../../runtime/config/parse-config-value.ts';
import { serve } from './testing/serve.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'advisor-limits-'));
after(() => rmSync(stateDir, { recursive: true }));

const written = {
  enabled: true,
  backend: { provider: 'local', base_url: 'http://127.0.0.1:9', model: 'm' },
  budget: { calls_per_day: 2, tokens_per_day: 1_000 },
};
const settings = parseConfigValue(written, intelligenceSection.schema, { env: {}, secrets: new Map() })
  .value as AdvisoryLayer['settings'];

const EXPLAIN = {
  path: '/v1/intelligence/explain',
  body: { event_id: 'evt_000000000000000000000000' },
  headers: { authorization: `Bearer ${ensureToken(stateDir, 'operator').token}` },
};

const buildCall = (index: number, inputTokens: number) =>
  sampleEvent(index, { policy_name: 'service.advisor_call', metadata: { input_tokens: inputTokens } });

test('a used-up advisor budget answers 400', async () => {
  let asked = 0;
  const backend = async () => {
    asked += 1;
    throw new ModelFailure('unreachable', 'There is no model.');
  };
  const service = await serve({ state_dir: stateDir, instead: { advisors: { settings, backend } } });
  const rows: readonly (readonly [tokens: readonly number[], status: number, code: string, limit: RegExp])[] =
    [
      [[1, 1], 400, 'budget_exceeded', /calls_per_day/],
      [[1_000], 400, 'budget_exceeded', /tokens_per_day/],
      [[999], 502, 'upstream_failed', /no model/],
    ];
  try {
    for (const [tokens, status, code, limit] of rows) {
      const calls = tokens.map((each, at) => buildCall(at + 1, each));
      service.events.splice(0, Infinity, sampleEvent(0), ...calls);
      const answer = await service.ask(EXPLAIN);
      assert.deepEqual([answer.status, answer.json.code], [status, code], answer.text);
      assert.match(answer.json.error, limit);
      assert.equal(answer.headers['retry-after'], undefined);
    }
    assert.equal(asked, 1);
  } finally {
    await service.close();
  }
});

test('a fifth advisor call at once answers 429', async () => {
  const held = Promise.withResolvers<never>();
  let asked = 0;
  const allAsked = Promise.withResolvers<void>();
  const backend = () => {
    asked += 1;
    if (asked === 4) allAsked.resolve();
    return held.promise;
  };
  const service = await serve({ state_dir: stateDir, instead: { advisors: { settings, backend } } });
  service.events.push(sampleEvent(0));
  try {
    const running = Array.from({ length: 4 }, () => service.ask(EXPLAIN));
    await Promise.race([allAsked.promise, Promise.all(running)]);
    const refused = await service.ask(EXPLAIN);
    assert.deepEqual([refused.status, refused.json.code], [429, 'too_many_requests']);
    assert.notEqual(refused.headers['retry-after'], undefined);
    held.reject(new ModelFailure('unreachable', 'There is no model.'));
    const statuses = (await Promise.all(running)).map(({ status }) => status);
    assert.deepEqual(statuses, [502, 502, 502, 502]);
  } finally {
    await service.close();
  }
});
