import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCostSettings } from '../features/costs/testing/test-costs.ts';
import { openFreeModelCosts } from './model-costs.ts';

test('a service without costs refuses calls that a budget limits', async () => {
  const budget = { name: 'all', limit_usd: 1, period: 'day' };
  await assert.rejects(
    openFreeModelCosts({ cost: parseCostSettings({ budgets: [budget] }) }),
    /cost\.budgets/,
  );
  // Negative control: without a budget, calls pass and cost nothing.
  const costs = await openFreeModelCosts({ cost: parseCostSettings({}) });
  const asked = { tenant_id: 'default', agent_id: 'a', session_id: null, user_id: null, model: 'toy' };
  const reserved = await costs.reserve({ ...asked, input_tokens: 1, max_output_tokens: null, now_ms: 0 });
  assert.ok('settle' in reserved);
  assert.equal((await reserved.settle(null)).micro_usd, 0);
});
