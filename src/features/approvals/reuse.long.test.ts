/** Approvals for callers that cannot name a request, such as a model that repeats the same call. */
import assert from 'node:assert/strict';
import { judge } from '../../core/decision/judge.ts';
import type { Crossing } from '../../core/types/index.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { AGENT, ALL, ANN, getCall, openTestApprovals, POLICY, type TestApprovals } from './testing/open.ts';

function ask(
  approvals_test: TestApprovals,
  parts: Partial<Crossing> = {},
  approval_request_id: string | null = null,
) {
  const crossing = getCall(parts);
  return approvals_test.approvals.resolve({
    judged: judge(crossing, POLICY),
    crossing,
    caller: AGENT,
    approval_request_id,
    reuse_approval: true,
    judgeWith: (approved_rules) => judge({ ...crossing, approved_rules }, POLICY),
  });
}

const vote = (approvals_test: TestApprovals, request_id: string, vote: 'approve' | 'deny') =>
  approvals_test.approvals.vote({ request_id, vote, caller: ANN, approver: null, comment: null }, ALL);

withStores('approvals that are reused', (law) => {
  law('the same call again uses the approval up, once', async ({ store }) => {
    const approvals_test = openTestApprovals(store);
    const first = await ask(approvals_test);
    const id = first.approval?.request_id ?? '';
    assert.deepEqual([first.verdict.decision, first.approval?.status], ['block', 'pending']);
    assert.equal((await ask(approvals_test)).approval?.request_id, id);
    await vote(approvals_test, id, 'approve');
    const second = await ask(approvals_test);
    assert.deepEqual([second.verdict.decision, second.approval?.status], ['allow', 'consumed']);
    const third = await ask(approvals_test);
    assert.deepEqual([third.verdict.decision, third.approval?.status], ['block', 'pending']);
    assert.notEqual(third.approval?.request_id, id);
  });

  law('another call, agent or session finds nothing, whatever id is named', async ({ store }) => {
    const approvals_test = openTestApprovals(store);
    const id = (await ask(approvals_test)).approval?.request_id ?? '';
    await vote(approvals_test, id, 'approve');
    const others: readonly Partial<Crossing>[] = [
      { content: { kind: 'json', value: { amount: 13, to: 'acme' } } },
      { agent_id: 'other' },
      { session_id: 's-2' },
      { tenant_id: 'other' },
    ];
    for (const parts of others) {
      const { verdict, approval } = await ask(approvals_test, parts, id);
      assert.deepEqual([verdict.decision, approval?.status], ['block', 'pending'], JSON.stringify(parts));
      assert.notEqual(approval?.request_id, id);
    }
    assert.equal((await ask(approvals_test)).verdict.decision, 'allow');
  });

  law('a denial is returned again, without a new request until it expires', async ({ store }) => {
    const approvals_test = openTestApprovals(store);
    const id = (await ask(approvals_test)).approval?.request_id ?? '';
    await vote(approvals_test, id, 'deny');
    const again = await ask(approvals_test);
    assert.deepEqual([again.approval?.request_id, again.approval?.status], [id, 'denied']);
    assert.match(again.verdict.reason, /An approver denied/);
    approvals_test.clock.now_ms += 31 * 60_000;
    assert.equal((await ask(approvals_test)).approval?.status, 'pending');
  });
});
