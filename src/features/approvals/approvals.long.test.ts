import assert from 'node:assert/strict';
import { judge } from '../../core/decision/judge.ts';
import { type Crossing, NO_PRINCIPAL } from '../../core/types/index.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { APPROVAL_STATUSES, type ApprovalStatus } from '../../runtime/enforcement/approval.ts';
import { deleteOldRequests, expireRequests } from './expiry.ts';
import { isTransitionAllowed } from './lifecycle.ts';
import {
  AGENT,
  ALL,
  ANN,
  BOB,
  getCall,
  openTestApprovals,
  POLICY,
  START_MS,
  type TestApprovals,
} from './testing/open.ts';

const MINUTE_MS = 60_000;

async function getRequest(approvalsTest: TestApprovals, parts: Partial<Crossing> = {}): Promise<string> {
  const { verdict, approval } = await approvalsTest.check(parts);
  assert.equal(verdict.decision, 'block');
  assert.equal(approval?.status, 'pending');
  return approval.request_id;
}

const vote = (
  approvalsTest: TestApprovals,
  requestId: string,
  vote: 'approve' | 'deny',
  caller = ANN,
  comment = '',
) => approvalsTest.approvals.vote({ request_id: requestId, vote, caller, approver: null, comment }, ALL);

/** Brings a new request into a state by votes, uses and time, never by writing to the tables. */
async function requestInState(approvalsTest: TestApprovals, status: ApprovalStatus): Promise<string> {
  const id = await getRequest(approvalsTest);
  if (status === 'approved' || status === 'consumed') await vote(approvalsTest, id, 'approve');
  if (status === 'denied') await vote(approvalsTest, id, 'deny');
  if (status === 'cancelled') await approvalsTest.approvals.cancel(id, AGENT, ALL);
  if (status === 'consumed') await approvalsTest.check({}, id);
  if (status === 'expired') {
    approvalsTest.clock.now_ms += 31 * MINUTE_MS;
    await expireRequests(approvalsTest.parts);
    approvalsTest.clock.now_ms -= 31 * MINUTE_MS;
  }
  assert.equal((await approvalsTest.approvals.find(id))?.status, status);
  return id;
}

withStores('approvals', (law) => {
  law('a request waits, is approved, is used once', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const id = await getRequest(approvalsTest);
    assert.match(id, /^apr_[0-9a-f]{24}$/);
    const waiting = await approvalsTest.check({}, id);
    assert.deepEqual([waiting.verdict.decision, waiting.approval?.status], ['block', 'pending']);
    assert.match(waiting.verdict.reason, /still waits/);

    const approved = await vote(approvalsTest, id, 'approve');
    assert.ok(approved.moved);
    assert.deepEqual([approved.record.status, approved.record.decided_by], ['approved', 'cli:ann']);

    const used = await approvalsTest.check({}, id);
    assert.deepEqual([used.verdict.decision, used.verdict.rule], ['allow', 'pay-asks']);
    assert.deepEqual([used.approval?.status, used.approval?.request_id], ['consumed', id]);

    const again = await approvalsTest.check({}, id);
    assert.deepEqual([again.verdict.decision, again.approval?.status], ['block', 'consumed']);
    assert.match(again.verdict.reason, /used before/);
    assert.deepEqual(
      approvalsTest.events.map(({ metadata, caller_id, decision }) => [metadata.phase, caller_id, decision]),
      [
        ['approval_pending', 'agent-token', 'block'],
        ['approval_approved', 'cli:ann', 'allow'],
        ['approval_consumed', 'agent-token', 'allow'],
      ],
    );
    for (const event of approvalsTest.events) {
      assert.equal(event.metadata.approval_request_id, id);
      assert.equal(event.tool_name, 'pay');
      assert.match(event.context_hash, /^sha256:[0-9a-f]{64}$/);
    }
  });

  const OTHERS: Readonly<Record<string, Partial<Crossing>>> = {
    tenant: { tenant_id: 'other' },
    agent: { agent_id: 'other' },
    'source agent': { source_agent_id: 'other' },
    'destination agent': { destination_agent_id: 'other' },
    session: { session_id: null },
    phase: { phase: 'message' },
    'set of arguments or person': { content: { kind: 'json', value: { amount: 13, to: 'acme' } } },
  };
  const getPerson = (userId: string): Partial<Crossing> => ({
    principal: {
      ...NO_PRINCIPAL,
      user: { user_id: userId, user_email: null, groups: [], scopes: null },
    },
  });
  law('an approval for one person is good for no other', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const { check } = approvalsTest;
    const { approval } = await check(getPerson('ada'));
    const id = approval!.request_id;
    await vote(approvalsTest, id, 'approve');
    assert.equal((await check(getPerson('bob'), id)).approval?.status, 'mismatch');
    assert.equal((await check({}, id)).approval?.status, 'mismatch');
    assert.equal((await check(getPerson('ada'), id)).verdict.decision, 'allow');
  });

  law('an approval is good for nothing else', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const id = await requestInState(approvalsTest, 'approved');
    for (const [what, parts] of Object.entries(OTHERS)) {
      const { verdict, approval } = await approvalsTest.check(parts, id);
      assert.deepEqual([verdict.decision, approval?.status], ['block', 'mismatch'], what);
      assert.equal(approval?.expires_at, null);
      assert.match(verdict.reason, new RegExp(`another ${what}\\.`));
    }
    const tool = await approvalsTest.check({ tool: 'wire' }, id);
    assert.match(tool.verdict.reason, /another tool\./);
    assert.equal(Object.keys(OTHERS).length, 7);
    // The same arguments in another order are equal.
    const same = await approvalsTest.check(
      { content: { kind: 'json', value: { to: 'acme', amount: 12 } } },
      id,
    );
    assert.equal(same.verdict.decision, 'allow');
  });

  law('an unknown id, and rules that were not approved, grant nothing', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const unknown = await approvalsTest.check({}, 'apr_000000000000000000000000');
    assert.deepEqual([unknown.verdict.decision, unknown.approval?.status], ['block', 'not_found']);
    const id = await requestInState(approvalsTest, 'approved');
    const crossing = getCall();
    const judged = judge(crossing, POLICY);
    const MORE = [{ rules: ['pay-asks', 'new-rule'] }, { min_approvals: 2 }];
    for (const more of MORE) {
      const settled = await approvalsTest.approvals.resolve({
        judged: { ...judged, approval: { ...judged.approval!, ...more } },
        crossing,
        caller: AGENT,
        approval_request_id: id,
        judgeWith: () => assert.fail('it was judged again'),
      });
      assert.deepEqual([settled.verdict.decision, settled.approval?.status], ['block', 'mismatch']);
    }
    assert.equal((await approvalsTest.approvals.find(id))?.status, 'approved');
  });

  law('what blocks after all uses nothing up', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const id = await requestInState(approvalsTest, 'approved');
    const crossing = getCall();
    const judged = judge(crossing, POLICY);
    const settled = await approvalsTest.approvals.resolve({
      judged,
      crossing,
      caller: AGENT,
      approval_request_id: id,
      judgeWith: () => judge(getCall({ tool: 'drop' }), POLICY),
    });
    assert.deepEqual([settled.verdict.rule, settled.approval?.status], ['no-drop', 'approved']);
    assert.equal((await approvalsTest.check({}, id)).verdict.decision, 'allow');
  });

  law('every state answers with its true cause', async ({ store }) => {
    const causes: Readonly<Record<ApprovalStatus, RegExp>> = {
      pending: /waits for an approver/,
      approved: /was approved/,
      denied: /An approver denied/,
      expired: /expired; it was not denied/,
      cancelled: /was cancelled/,
      consumed: /used before/,
    };
    for (const status of APPROVAL_STATUSES) {
      const approvalsTest = openTestApprovals(store);
      const id = await requestInState(approvalsTest, status);
      const { verdict, approval } = await approvalsTest.check({}, id);
      assert.equal(verdict.decision, status === 'approved' ? 'allow' : 'block', status);
      assert.match(verdict.reason, causes[status]);
      assert.equal(approval?.status, status === 'approved' ? 'consumed' : status);
      await approvalsTest.approvals.cancel(id, AGENT, ALL);
    }
    assert.equal(APPROVAL_STATUSES.length, 6);
  });

  law('only what the table of transitions has happens', async ({ store }) => {
    const moves = {
      approved: (approvalsTest: TestApprovals, id: string) => vote(approvalsTest, id, 'approve'),
      denied: (approvalsTest: TestApprovals, id: string) => vote(approvalsTest, id, 'deny'),
      cancelled: (approvalsTest: TestApprovals, id: string) => approvalsTest.approvals.cancel(id, AGENT, ALL),
      consumed: (approvalsTest: TestApprovals, id: string) => approvalsTest.check({}, id),
      expired: async (approvalsTest: TestApprovals) => {
        approvalsTest.clock.now_ms += 31 * MINUTE_MS;
        await expireRequests(approvalsTest.parts);
      },
    } as const;
    let tried = 0;
    for (const from of APPROVAL_STATUSES) {
      for (const [to, move] of Object.entries(moves)) {
        const approvalsTest = openTestApprovals(store);
        const id = await requestInState(approvalsTest, from);
        const before = approvalsTest.events.length;
        await move(approvalsTest, id);
        const may = isTransitionAllowed(from, to as ApprovalStatus);
        assert.equal((await approvalsTest.approvals.find(id))?.status, may ? to : from, `${from} -> ${to}`);
        assert.equal(approvalsTest.events.length, before + (may ? 1 : 0), `${from} -> ${to}`);
        approvalsTest.clock.now_ms += 31 * MINUTE_MS;
        await expireRequests(approvalsTest.parts);
        tried += 1;
      }
    }
    assert.equal(tried, 30);
  });

  law('what expired stays so when the clock goes back', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const id = await requestInState(approvalsTest, 'approved');
    approvalsTest.clock.now_ms += 30 * MINUTE_MS;
    assert.equal((await approvalsTest.approvals.find(id))?.status, 'expired');
    approvalsTest.clock.now_ms = START_MS;
    assert.equal((await approvalsTest.approvals.find(id))?.status, 'expired');
    const { verdict, approval } = await approvalsTest.check({}, id);
    assert.deepEqual([verdict.decision, approval?.status], ['block', 'expired']);
    assert.equal(approvalsTest.events.at(-1)?.metadata.phase, 'approval_expired');
    assert.equal(approvalsTest.events.at(-1)?.caller_id, 'service:clock');
  });

  law('a vote that comes too late finds an expired request, and no denial', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const id = await getRequest(approvalsTest);
    approvalsTest.clock.now_ms += 30 * MINUTE_MS;
    const late = await vote(approvalsTest, id, 'deny');
    assert.deepEqual([late.moved, late.moved ? '' : late.cause], [false, 'not_pending']);
    assert.equal(late.record?.status, 'expired');
    assert.equal(late.record?.decided_by, null);
  });

  law('one call makes one request while it is pending, and a new one later', async ({ store, another }) => {
    const approvalsTest = openTestApprovals(store);
    const other = openTestApprovals(await another());
    const id = await getRequest(approvalsTest);
    assert.equal(await getRequest(other), id);
    assert.notEqual(await getRequest(approvalsTest, { session_id: 's-2' }), id);
    await vote(approvalsTest, id, 'deny');
    const next = await getRequest(approvalsTest);
    assert.notEqual(next, id);
    approvalsTest.clock.now_ms += 30 * MINUTE_MS;
    assert.notEqual(await getRequest(approvalsTest), next);
    assert.equal((await approvalsTest.approvals.find(next))?.status, 'expired');
  });

  law('one request of many that ask at once', async ({ store, another }) => {
    const desks = [
      openTestApprovals(store),
      openTestApprovals(await another()),
      openTestApprovals(await another()),
    ];
    const ids = await Promise.all(Array.from({ length: 30 }, (_, at) => getRequest(desks[at % 3]!)));
    assert.equal(new Set(ids).size, 1);
    assert.equal(desks.flatMap(({ events }) => events).length, 1);
  });

  law('who asked decides nothing, and a person’s own call is a request of its own', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const id = await getRequest(approvalsTest);
    const own = (await approvalsTest.check({}, null, ANN)).approval!.request_id;
    assert.notEqual(own, id);
    for (const word of ['approve', 'deny'] as const) {
      const moved = await vote(approvalsTest, own, word);
      assert.deepEqual([moved.moved, moved.moved ? '' : moved.cause], [false, 'own_request']);
    }
    assert.ok((await vote(approvalsTest, own, 'approve', BOB)).moved);
  });

  law('an approval needs a second factor of the last minutes if the rule asks for one', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const id = await getRequest(approvalsTest, { tool: 'ship' });
    assert.equal((await approvalsTest.approvals.find(id))?.require_second_factor, true);
    const nowMs = approvalsTest.clock.now_ms;
    const at = (secondFactorMs: number | null) => ({
      ...ANN,
      id: 'user:ann',
      second_factor_ms: secondFactorMs,
    });
    const refused = [ANN, at(null), at(nowMs - 600_000)];
    for (const caller of refused) {
      const moved = await vote(approvalsTest, id, 'approve', caller);
      assert.deepEqual([moved.moved, moved.moved ? '' : moved.cause], [false, 'second_factor_required']);
    }
    assert.equal(refused.length, 3);
    assert.ok((await vote(approvalsTest, id, 'approve', at(nowMs - 599_999))).moved);
    const other = await getRequest(approvalsTest, { tool: 'ship', session_id: 's-2' });
    assert.ok((await vote(approvalsTest, other, 'deny', ANN)).moved, 'a denial needs none');
    const plain = await getRequest(approvalsTest);
    assert.ok((await vote(approvalsTest, plain, 'approve', ANN)).moved, 'another rule asks for none');
  });

  law('as many people as the rule asks for, each once; one who denies is enough', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const id = await getRequest(approvalsTest, { tool: 'wire' });
    const first = await vote(approvalsTest, id, 'approve', ANN, 'looks right');
    assert.ok(first.moved);
    assert.equal(first.record.status, 'pending');
    assert.equal(approvalsTest.events.at(-1)?.metadata.phase, 'approval_voted');
    const twice = await vote(approvalsTest, id, 'approve', ANN);
    assert.deepEqual([twice.moved, twice.moved ? '' : twice.cause], [false, 'already_voted']);
    assert.equal((await approvalsTest.check({ tool: 'wire' }, id)).verdict.decision, 'block');
    const second = await vote(approvalsTest, id, 'approve', BOB);
    assert.ok(second.moved);
    assert.equal(second.record.status, 'approved');
    assert.deepEqual(
      second.record.votes.map(({ caller_id, comment }) => [caller_id, comment]),
      [
        ['cli:ann', 'looks right'],
        ['cli:bob', null],
      ],
    );
    const other = await getRequest(approvalsTest, { tool: 'wire', session_id: 's-9' });
    await vote(approvalsTest, other, 'approve', ANN);
    const changed = await vote(approvalsTest, other, 'deny', ANN);
    assert.ok(changed.moved);
    assert.equal(changed.record.status, 'denied');
  });

  law('an event that cannot be written takes everything back', async ({ store }) => {
    const approvalsTest = openTestApprovals(store, {}, true);
    const outbox = () => store.db.selectFrom('outbox_messages').select('delivery_id').execute();
    approvalsTest.journal.fault = new Error('disk full');
    const none = await approvalsTest.check();
    assert.deepEqual(
      [none.verdict.decision, none.verdict.rule, none.approval],
      ['block', 'fault.audit', null],
    );
    assert.equal(none.verdict.fault, true);
    assert.deepEqual(await approvalsTest.approvals.list({ limit: 10 }), []);
    assert.deepEqual(await outbox(), []);

    approvalsTest.journal.fault = null;
    const id = await getRequest(approvalsTest);
    for (const word of ['approve', 'deny'] as const) {
      approvalsTest.journal.fault = new Error('disk full');
      await assert.rejects(vote(approvalsTest, id, word), { name: 'Unrecorded' });
      assert.equal((await approvalsTest.approvals.find(id))?.votes.length, 0);
    }
    approvalsTest.journal.fault = null;
    await vote(approvalsTest, id, 'approve');
    approvalsTest.journal.fault = new Error('disk full');
    const unused = await approvalsTest.check({}, id);
    assert.deepEqual([unused.verdict.decision, unused.verdict.rule], ['block', 'fault.audit']);
    approvalsTest.journal.fault = null;
    assert.equal((await approvalsTest.check({}, id)).verdict.decision, 'allow');
    assert.equal((await outbox()).length, 3);
  });

  law('an approver sees the command that waits, without the secrets in it', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const mail = `jo.${'q7'.repeat(4)}@acme-mail.io`;
    const content = { kind: 'json', value: { command: 'git reset --hard HEAD~3', to: mail } } as const;
    const record = (await approvalsTest.approvals.find(await getRequest(approvalsTest, { content })))!;
    const masked = '{"command":"git reset --hard HEAD~3","to":"[REDACTED]"}';
    assert.deepEqual([record.arguments, record.action_shown], [masked, `pay ${masked}`]);
    assert.deepEqual(
      record.action_marks.map(([start, end]) => record.action_shown!.slice(start, end)),
      ['git reset --hard HEAD~3'],
    );
  });

  law('what was found stands nowhere in the store or in the audit log', async ({ store }) => {
    const approvalsTest = openTestApprovals(store, {}, true);
    const mail = `jo.${'q7'.repeat(4)}@acme-mail.io`;
    const content = { kind: 'json', value: { to: mail, [mail]: 1, body: 'Hello', nul: 'a\u0000b' } } as const;
    const id = await getRequest(approvalsTest, { content });
    await vote(approvalsTest, id, 'approve', ANN, `sent it to ${mail}\u001b[2J`);
    const record = (await approvalsTest.approvals.find(id))!;
    assert.deepEqual(JSON.parse(record.arguments), {
      to: '[REDACTED]',
      '[REDACTED]': 1,
      body: 'Hello',
      nul: 'a\u0000b',
    });
    assert.equal(record.votes[0]?.comment, 'sent it to [REDACTED] [2J');
    const rows = [
      await store.db.selectFrom('approval_requests').selectAll().execute(),
      await store.db.selectFrom('approval_votes').selectAll().execute(),
      await store.db.selectFrom('outbox_messages').selectAll().execute(),
      approvalsTest.events,
    ];
    assert.ok(!JSON.stringify(rows).includes('q7q7'));
    assert.equal((await approvalsTest.check({ content }, id)).verdict.decision, 'allow');
  });

  law('arguments are cut at a limit in bytes, and say so', async ({ store }) => {
    const approvalsTest = openTestApprovals(store, { arguments_bytes_max: 64 });
    const id = await getRequest(approvalsTest, {
      content: { kind: 'json', value: { note: 'ä'.repeat(100) } },
    });
    const record = (await approvalsTest.approvals.find(id))!;
    assert.equal(record.arguments_bytes, 211);
    assert.equal(record.arguments_truncated, true);
    assert.equal(record.arguments, `{"note":"${'ä'.repeat(27)}`);
  });

  law(
    'requests that wait are limited for each agent and in all, and time is limited too',
    async ({ store }) => {
      const approvalsTest = openTestApprovals(store, {
        pending_per_agent_max: 2,
        pending_max: 3,
        ttl_ms_max: 60 * MINUTE_MS,
      });
      const long = await approvalsTest.check({ tool: 'long' });
      assert.equal(long.approval?.expires_at, new Date(START_MS + 60 * MINUTE_MS).toISOString());
      await getRequest(approvalsTest);
      const over = await approvalsTest.check({ session_id: 's-2' });
      assert.deepEqual([over.verdict.decision, over.approval], ['block', null]);
      assert.match(over.verdict.reason, /pending_per_agent_max/);
      await getRequest(approvalsTest, { agent_id: 'second' });
      assert.match((await approvalsTest.check({ agent_id: 'third' })).verdict.reason, /pending_max/);
      // A request equal to a pending one does not count as another request.
      await getRequest(approvalsTest);
      approvalsTest.clock.now_ms += 61 * MINUTE_MS;
      await getRequest(approvalsTest, { agent_id: 'third' });
    },
  );

  law('the list has the newest first, and what fits all filters', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const first = await getRequest(approvalsTest);
    approvalsTest.clock.now_ms += 1_000;
    const second = await getRequest(approvalsTest, { agent_id: 'other', tool: 'wire', tenant_id: 'acme' });
    const list = async (filter: object) =>
      (await approvalsTest.approvals.list({ limit: 10, ...filter })).map(({ request_id }) => request_id);
    assert.deepEqual(await list({}), [second, first]);
    assert.deepEqual(await list({ limit: 1 }), [second]);
    assert.deepEqual(await list({ agent_ids: ['other'] }), [second]);
    assert.deepEqual(await list({ tool: 'pay' }), [first]);
    assert.deepEqual(await list({ tenant_ids: ['default', 'none'] }), [first]);
    assert.deepEqual(await list({ tenant_ids: [] }), []);
    await vote(approvalsTest, first, 'deny');
    assert.deepEqual(await list({ status: 'denied' }), [first]);
    assert.deepEqual(await list({ status: 'pending' }), [second]);
    approvalsTest.clock.now_ms += 30 * MINUTE_MS;
    assert.deepEqual(await list({ status: 'pending' }), []);
    assert.deepEqual(await list({ status: 'expired' }), [second]);
  });

  law('a caller who may not see a request gets the answer for a missing one', async ({ store }) => {
    const approvalsTest = openTestApprovals(store);
    const id = await getRequest(approvalsTest);
    const none = () => false;
    const voted = await approvalsTest.approvals.vote(
      { request_id: id, vote: 'deny', caller: ANN, approver: null, comment: null },
      none,
    );
    assert.deepEqual(voted, { moved: false, cause: 'not_found', record: null });
    assert.deepEqual(await approvalsTest.approvals.cancel(id, AGENT, none), voted);
    assert.equal((await approvalsTest.approvals.find(id))?.status, 'pending');
  });

  law('a store that is gone blocks, and it goes on when it is back', async ({ store, another }) => {
    const approvalsTest = openTestApprovals(store);
    const id = await requestInState(approvalsTest, 'approved');
    await store.close();
    const gone = await approvalsTest.check({}, id);
    assert.deepEqual([gone.verdict.decision, gone.verdict.rule], ['block', 'fault.store']);
    assert.equal(gone.verdict.fault, true);
    assert.equal((await approvalsTest.check()).verdict.rule, 'fault.store');
    assert.equal(approvalsTest.faults.length, 2);
    assert.equal((await openTestApprovals(await another()).check({}, id)).verdict.decision, 'allow');
  });

  law('what is old is forgotten, what is open is not', async ({ store }) => {
    const approvalsTest = openTestApprovals(store, { keep_ms: 60 * MINUTE_MS, ttl_ms_max: 500 * MINUTE_MS });
    const denied = await requestInState(approvalsTest, 'denied');
    const open = await getRequest(approvalsTest, { tool: 'long' });
    approvalsTest.clock.now_ms += 91 * MINUTE_MS;
    assert.equal(await deleteOldRequests(approvalsTest.parts), false);
    assert.equal(await approvalsTest.approvals.find(denied), null);
    assert.equal((await approvalsTest.approvals.find(open))?.status, 'pending');
    assert.deepEqual(await store.db.selectFrom('approval_votes').selectAll().execute(), []);
  });

  law(
    'a waiting caller gets the decision within a moment, and many cost one question',
    async ({ store, another }) => {
      const approvalsTest = openTestApprovals(store);
      const other = openTestApprovals(await another());
      const id = await getRequest(approvalsTest);
      const many = Array.from({ length: 50 }, () => other.approvals.wait(id, 30_000, null));
      const late = await other.approvals.wait(id, 1, null);
      assert.equal(late.waited && late.record?.status, 'pending');
      await vote(approvalsTest, id, 'approve');
      for (const each of await Promise.all(many))
        assert.equal(each.waited && each.record?.status, 'approved');
      assert.deepEqual(await other.approvals.wait('apr_none', 30_000, null), { waited: true, record: null });
      const next = await getRequest(approvalsTest);
      const gone = new AbortController();
      const aborted = other.approvals.wait(next, 30_000, gone.signal);
      const released = other.approvals.wait(next, 30_000, null);
      gone.abort();
      assert.equal((await aborted).waited, true);
      other.approvals.release();
      const free = await released;
      assert.equal(free.waited && free.record?.status, 'pending');
    },
  );
});
