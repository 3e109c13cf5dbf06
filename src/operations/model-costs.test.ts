import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFreeModelCosts } from './model-costs.ts';

test('a service without costs lets calls pass for nothing', async () => {
  const costs = openFreeModelCosts();
  assert.equal(costs.counts_usage, false);
  const asked = { tenant_id: 'default', agent_id: 'a', session_id: null, user_id: null, model: 'toy' };
  const reserved = await costs.reserve({ ...asked, input_tokens: 1, max_output_tokens: null, now_ms: 0 });
  assert.ok('settle' in reserved);
  assert.equal((await reserved.settle(null)).micro_usd, 0);
});
