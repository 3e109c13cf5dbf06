/** Approvals for callers that cannot name a request, such as a model that repeats the same call. */
import assert from 'node:assert/strict';
import { judge } from '../../core/decision/judge.ts';
import type { Crossing } from '../../core/types/index.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { AGENT, ALL, ANN, getCall, openTestApprovals, POLICY, type TestApprovals } from './testing/open.ts';

function ask(
  approvalsTest: TestApprovals,
  parts: Partial<Crossing> = {},
  approvalRequestId: string | null = null,
) {
  const crossing = getCall(parts);
  return approvalsTest.approvals.resolve({
    judged: judge(crossing, POLICY),
    crossing,
    caller: AGENT,
    approval_request_id: approvalRequestId,
    reuse_approval: true,
    judgeWith: (approvedRules) => judge({ ...crossing, approved_rules: approvedRules }, POLICY),
  });
}

const vote = (approvalsTest: TestApprovals, requestId: string, vote: 'approve' | 'deny') =>
  approvalsTest.approvals.vote(
    { request_id: requestId, vote, caller: ANN, approver: null, comment: null },
    ALL,
  );

withStores('approvals that are reused', (law) => {
  law('the same call again uses the approval up, once', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const first = await ask(approvalsTest);
    const id = first.approval?.request_id ?? '';
    assert.deepEqual([first.verdict.decision, first.approval?.status], ['block', 'pending']);
    assert.equal((await ask(approvalsTest)).approval?.request_id, id);
    await vote(approvalsTest, id, 'approve');
    const second = await ask(approvalsTest);
    assert.deepEqual([second.verdict.decision, second.approval?.status], ['allow', 'consumed']);
    const third = await ask(approvalsTest);
    assert.deepEqual([third.verdict.decision, third.approval?.status], ['block', 'pending']);
    assert.notEqual(third.approval?.request_id, id);
  });

  law('another call, agent or session finds nothing, whatever id is named', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const id = (await ask(approvalsTest)).approval?.request_id ?? '';
    await vote(approvalsTest, id, 'approve');
    const others: readonly Partial<Crossing>[] = [
      { content: { kind: 'json', value: { amount: 13, to: 'acme' } } },
      { agent_id: 'other' },
      { session_id: 's-2' },
      { tenant_id: 'other' },
    ];
    for (const parts of others) {
      const { verdict, approval } = await ask(approvalsTest, parts, id);
      assert.deepEqual([verdict.decision, approval?.status], ['block', 'pending'], JSON.stringify(parts));
      assert.notEqual(approval?.request_id, id);
    }
    assert.equal((await ask(approvalsTest)).verdict.decision, 'allow');
  });

  law('a denial is returned again, without a new request until it expires', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const id = (await ask(approvalsTest)).approval?.request_id ?? '';
    await vote(approvalsTest, id, 'deny');
    const again = await ask(approvalsTest);
    assert.deepEqual([again.approval?.request_id, again.approval?.status], [id, 'denied']);
    assert.match(again.verdict.reason, /An approver denied/);
    approvalsTest.clock.now_ms += 31 * 60_000;
    assert.equal((await ask(approvalsTest)).approval?.status, 'pending');
  });
});
