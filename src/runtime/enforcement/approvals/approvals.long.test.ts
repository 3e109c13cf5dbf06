import assert from 'node:assert/strict';
import { judge } from '../../../core/decision/judge.ts';
import type { Crossing } from '../../../core/types/index.ts';
import { withStores } from '../../../platform/store/testing/stores.ts';
import { deleteOldRequests, expireRequests } from './expiry.ts';
import { APPROVAL_STATUSES, type ApprovalStatus, isTransitionAllowed } from './lifecycle.ts';
import { AGENT, ALL, ANN, BOB, callOf, type Desk, openDesk, POLICY, START_MS } from './testing/open.ts';

const MINUTE_MS = 60_000;

async function requestOf(desk: Desk, parts: Partial<Crossing> = {}): Promise<string> {
  const { verdict, approval } = await desk.check(parts);
  assert.equal(verdict.decision, 'block');
  assert.equal(approval?.status, 'pending');
  return approval.request_id;
}

const vote = (desk: Desk, request_id: string, vote: 'approve' | 'deny', caller = ANN, comment = '') =>
  desk.approvals.vote({ request_id, vote, caller, approver: null, comment }, ALL);

/** Brings a new request into a state by votes, uses and time, never by writing to the tables. */
async function inState(desk: Desk, status: ApprovalStatus): Promise<string> {
  const id = await requestOf(desk);
  if (status === 'approved' || status === 'consumed') await vote(desk, id, 'approve');
  if (status === 'denied') await vote(desk, id, 'deny');
  if (status === 'cancelled') await desk.approvals.cancel(id, AGENT, ALL);
  if (status === 'consumed') await desk.check({}, id);
  if (status === 'expired') {
    desk.clock.now_ms += 31 * MINUTE_MS;
    await expireRequests(desk.parts);
    desk.clock.now_ms -= 31 * MINUTE_MS;
  }
  assert.equal((await desk.approvals.find(id))?.status, status);
  return id;
}

withStores('approvals', (law) => {
  law('a request waits, is approved, is used once', async ({ store }) => {
    const desk = openDesk(store);
    const id = await requestOf(desk);
    assert.match(id, /^apr_[0-9a-f]{24}$/);
    const waiting = await desk.check({}, id);
    assert.deepEqual([waiting.verdict.decision, waiting.approval?.status], ['block', 'pending']);
    assert.match(waiting.verdict.reason, /still waits/);

    const approved = await vote(desk, id, 'approve');
    assert.ok(approved.moved);
    assert.deepEqual([approved.record.status, approved.record.decided_by], ['approved', 'cli:ann']);

    const used = await desk.check({}, id);
    assert.deepEqual([used.verdict.decision, used.verdict.rule], ['allow', 'pay-asks']);
    assert.deepEqual([used.approval?.status, used.approval?.request_id], ['consumed', id]);

    const again = await desk.check({}, id);
    assert.deepEqual([again.verdict.decision, again.approval?.status], ['block', 'consumed']);
    assert.match(again.verdict.reason, /used before/);
    assert.deepEqual(
      desk.events.map(({ metadata, caller_id, decision }) => [metadata.phase, caller_id, decision]),
      [
        ['approval_pending', 'agent-token', 'block'],
        ['approval_approved', 'cli:ann', 'allow'],
        ['approval_consumed', 'agent-token', 'allow'],
      ],
    );
    for (const event of desk.events) {
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
    'set of arguments': { content: { kind: 'json', value: { amount: 13, to: 'acme' } } },
  };
  law('an approval is good for nothing else', async ({ store }) => {
    const desk = openDesk(store);
    const id = await inState(desk, 'approved');
    for (const [what, parts] of Object.entries(OTHERS)) {
      const { verdict, approval } = await desk.check(parts, id);
      assert.deepEqual([verdict.decision, approval?.status], ['block', 'mismatch'], what);
      assert.equal(approval?.expires_at, null);
      assert.match(verdict.reason, new RegExp(`another ${what}\\.`));
    }
    const tool = await desk.check({ tool: 'wire' }, id);
    assert.match(tool.verdict.reason, /another tool\./);
    assert.equal(Object.keys(OTHERS).length, 7);
    // The same arguments in another order are equal.
    const same = await desk.check({ content: { kind: 'json', value: { to: 'acme', amount: 12 } } }, id);
    assert.equal(same.verdict.decision, 'allow');
  });

  law('an unknown id, and rules that were not approved, grant nothing', async ({ store }) => {
    const desk = openDesk(store);
    const unknown = await desk.check({}, 'apr_000000000000000000000000');
    assert.deepEqual([unknown.verdict.decision, unknown.approval?.status], ['block', 'not_found']);
    const id = await inState(desk, 'approved');
    const crossing = callOf();
    const judged = judge(crossing, POLICY);
    const MORE = [{ rules: ['pay-asks', 'new-rule'] }, { min_approvals: 2 }];
    for (const more of MORE) {
      const settled = await desk.approvals.resolve({
        judged: { ...judged, approval: { ...judged.approval!, ...more } },
        crossing,
        caller: AGENT,
        approval_request_id: id,
        judgeWith: () => assert.fail('it was judged again'),
      });
      assert.deepEqual([settled.verdict.decision, settled.approval?.status], ['block', 'mismatch']);
    }
    assert.equal((await desk.approvals.find(id))?.status, 'approved');
  });

  law('what blocks after all uses nothing up', async ({ store }) => {
    const desk = openDesk(store);
    const id = await inState(desk, 'approved');
    const crossing = callOf();
    const judged = judge(crossing, POLICY);
    const settled = await desk.approvals.resolve({
      judged,
      crossing,
      caller: AGENT,
      approval_request_id: id,
      judgeWith: () => judge(callOf({ tool: 'drop' }), POLICY),
    });
    assert.deepEqual([settled.verdict.rule, settled.approval?.status], ['no-drop', 'approved']);
    assert.equal((await desk.check({}, id)).verdict.decision, 'allow');
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
      const desk = openDesk(store);
      const id = await inState(desk, status);
      const { verdict, approval } = await desk.check({}, id);
      assert.equal(verdict.decision, status === 'approved' ? 'allow' : 'block', status);
      assert.match(verdict.reason, causes[status]);
      assert.equal(approval?.status, status === 'approved' ? 'consumed' : status);
      await desk.approvals.cancel(id, AGENT, ALL);
    }
    assert.equal(APPROVAL_STATUSES.length, 6);
  });

  law('only what the table of transitions has happens', async ({ store }) => {
    const moves = {
      approved: (desk: Desk, id: string) => vote(desk, id, 'approve'),
      denied: (desk: Desk, id: string) => vote(desk, id, 'deny'),
      cancelled: (desk: Desk, id: string) => desk.approvals.cancel(id, AGENT, ALL),
      consumed: (desk: Desk, id: string) => desk.check({}, id),
      expired: async (desk: Desk) => {
        desk.clock.now_ms += 31 * MINUTE_MS;
        await expireRequests(desk.parts);
      },
    } as const;
    let tried = 0;
    for (const from of APPROVAL_STATUSES) {
      for (const [to, move] of Object.entries(moves)) {
        const desk = openDesk(store);
        const id = await inState(desk, from);
        const before = desk.events.length;
        await move(desk, id);
        const may = isTransitionAllowed(from, to as ApprovalStatus);
        assert.equal((await desk.approvals.find(id))?.status, may ? to : from, `${from} -> ${to}`);
        assert.equal(desk.events.length, before + (may ? 1 : 0), `${from} -> ${to}`);
        desk.clock.now_ms += 31 * MINUTE_MS;
        await expireRequests(desk.parts);
        tried += 1;
      }
    }
    assert.equal(tried, 30);
  });

  law('what expired stays so when the clock goes back', async ({ store }) => {
    const desk = openDesk(store);
    const id = await inState(desk, 'approved');
    desk.clock.now_ms += 30 * MINUTE_MS;
    assert.equal((await desk.approvals.find(id))?.status, 'expired');
    desk.clock.now_ms = START_MS;
    assert.equal((await desk.approvals.find(id))?.status, 'expired');
    const { verdict, approval } = await desk.check({}, id);
    assert.deepEqual([verdict.decision, approval?.status], ['block', 'expired']);
    assert.equal(desk.events.at(-1)?.metadata.phase, 'approval_expired');
    assert.equal(desk.events.at(-1)?.caller_id, 'service:clock');
  });

  law('a vote that comes too late finds an expired request, and no denial', async ({ store }) => {
    const desk = openDesk(store);
    const id = await requestOf(desk);
    desk.clock.now_ms += 30 * MINUTE_MS;
    const late = await vote(desk, id, 'deny');
    assert.deepEqual([late.moved, late.moved ? '' : late.cause], [false, 'not_pending']);
    assert.equal(late.record?.status, 'expired');
    assert.equal(late.record?.decided_by, null);
  });

  law('the same request is asked once while it waits, and anew afterwards', async ({ store, another }) => {
    const desk = openDesk(store);
    const other = openDesk(await another());
    const id = await requestOf(desk);
    assert.equal(await requestOf(other), id);
    assert.notEqual(await requestOf(desk, { session_id: 's-2' }), id);
    await vote(desk, id, 'deny');
    const next = await requestOf(desk);
    assert.notEqual(next, id);
    desk.clock.now_ms += 30 * MINUTE_MS;
    assert.notEqual(await requestOf(desk), next);
    assert.equal((await desk.approvals.find(next))?.status, 'expired');
  });

  law('one request of many that ask at once', async ({ store, another }) => {
    const desks = [openDesk(store), openDesk(await another()), openDesk(await another())];
    const ids = await Promise.all(Array.from({ length: 30 }, (_, at) => requestOf(desks[at % 3]!)));
    assert.equal(new Set(ids).size, 1);
    assert.equal(desks.flatMap(({ events }) => events).length, 1);
  });

  law('who asked decides nothing, and a person’s own call is a request of its own', async ({ store }) => {
    const desk = openDesk(store);
    const id = await requestOf(desk);
    const own = (await desk.check({}, null, ANN)).approval!.request_id;
    assert.notEqual(own, id);
    for (const word of ['approve', 'deny'] as const) {
      const moved = await vote(desk, own, word);
      assert.deepEqual([moved.moved, moved.moved ? '' : moved.cause], [false, 'own_request']);
    }
    assert.ok((await vote(desk, own, 'approve', BOB)).moved);
  });

  law('an approval needs a second factor of the last minutes if the rule asks for one', async ({ store }) => {
    const desk = openDesk(store);
    const id = await requestOf(desk, { tool: 'ship' });
    assert.equal((await desk.approvals.find(id))?.require_second_factor, true);
    const now_ms = desk.clock.now_ms;
    const at = (second_factor_ms: number | null) => ({ ...ANN, id: 'user:ann', second_factor_ms });
    const refused = [ANN, at(null), at(now_ms - 600_000)];
    for (const caller of refused) {
      const moved = await vote(desk, id, 'approve', caller);
      assert.deepEqual([moved.moved, moved.moved ? '' : moved.cause], [false, 'second_factor_required']);
    }
    assert.equal(refused.length, 3);
    assert.ok((await vote(desk, id, 'approve', at(now_ms - 599_999))).moved);
    const other = await requestOf(desk, { tool: 'ship', session_id: 's-2' });
    assert.ok((await vote(desk, other, 'deny', ANN)).moved, 'a denial needs none');
    const plain = await requestOf(desk);
    assert.ok((await vote(desk, plain, 'approve', ANN)).moved, 'another rule asks for none');
  });

  law('as many people as the rule asks for, each once; one who denies is enough', async ({ store }) => {
    const desk = openDesk(store);
    const id = await requestOf(desk, { tool: 'wire' });
    const first = await vote(desk, id, 'approve', ANN, 'looks right');
    assert.ok(first.moved);
    assert.equal(first.record.status, 'pending');
    assert.equal(desk.events.at(-1)?.metadata.phase, 'approval_voted');
    const twice = await vote(desk, id, 'approve', ANN);
    assert.deepEqual([twice.moved, twice.moved ? '' : twice.cause], [false, 'already_voted']);
    assert.equal((await desk.check({ tool: 'wire' }, id)).verdict.decision, 'block');
    const second = await vote(desk, id, 'approve', BOB);
    assert.ok(second.moved);
    assert.equal(second.record.status, 'approved');
    assert.deepEqual(
      second.record.votes.map(({ caller_id, comment }) => [caller_id, comment]),
      [
        ['cli:ann', 'looks right'],
        ['cli:bob', null],
      ],
    );
    const other = await requestOf(desk, { tool: 'wire', session_id: 's-9' });
    await vote(desk, other, 'approve', ANN);
    const changed = await vote(desk, other, 'deny', ANN);
    assert.ok(changed.moved);
    assert.equal(changed.record.status, 'denied');
  });

  law('an event that cannot be written takes everything back', async ({ store }) => {
    const desk = openDesk(store, {}, true);
    const outbox = () => store.db.selectFrom('approval_outbox').select('message_id').execute();
    desk.journal.fault = new Error('disk full');
    const none = await desk.check();
    assert.deepEqual(
      [none.verdict.decision, none.verdict.rule, none.approval],
      ['block', 'fault.audit', null],
    );
    assert.equal(none.verdict.fault, true);
    assert.deepEqual(await desk.approvals.list({ limit: 10 }), []);
    assert.deepEqual(await outbox(), []);

    desk.journal.fault = null;
    const id = await requestOf(desk);
    for (const word of ['approve', 'deny'] as const) {
      desk.journal.fault = new Error('disk full');
      await assert.rejects(vote(desk, id, word), { name: 'Unrecorded' });
      assert.equal((await desk.approvals.find(id))?.votes.length, 0);
    }
    desk.journal.fault = null;
    await vote(desk, id, 'approve');
    desk.journal.fault = new Error('disk full');
    const unused = await desk.check({}, id);
    assert.deepEqual([unused.verdict.decision, unused.verdict.rule], ['block', 'fault.audit']);
    desk.journal.fault = null;
    assert.equal((await desk.check({}, id)).verdict.decision, 'allow');
    assert.equal((await outbox()).length, 3);
  });

  law('what was found stands nowhere in the store or in the trail', async ({ store }) => {
    const desk = openDesk(store, {}, true);
    const mail = `jo.${'q7'.repeat(4)}@acme-mail.io`;
    const content = { kind: 'json', value: { to: mail, [mail]: 1, body: 'Hello', nul: 'a\u0000b' } } as const;
    const id = await requestOf(desk, { content });
    await vote(desk, id, 'approve', ANN, `sent it to ${mail}\u001b[2J`);
    const record = (await desk.approvals.find(id))!;
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
      await store.db.selectFrom('approval_outbox').selectAll().execute(),
      desk.events,
    ];
    assert.ok(!JSON.stringify(rows).includes('q7q7'));
    assert.equal((await desk.check({ content }, id)).verdict.decision, 'allow');
  });

  law('arguments are cut at a limit in bytes, and say so', async ({ store }) => {
    const desk = openDesk(store, { arguments_bytes_max: 64 });
    const id = await requestOf(desk, { content: { kind: 'json', value: { note: 'ä'.repeat(100) } } });
    const record = (await desk.approvals.find(id))!;
    assert.equal(record.arguments_bytes, 211);
    assert.equal(record.arguments_truncated, true);
    assert.equal(record.arguments, `{"note":"${'ä'.repeat(27)}`);
  });

  law(
    'requests that wait are limited for each agent and in all, and time is limited too',
    async ({ store }) => {
      const desk = openDesk(store, { pending_per_agent_max: 2, pending_max: 3, ttl_ms_max: 60 * MINUTE_MS });
      const long = await desk.check({ tool: 'long' });
      assert.equal(long.approval?.expires_at, new Date(START_MS + 60 * MINUTE_MS).toISOString());
      await requestOf(desk);
      const over = await desk.check({ session_id: 's-2' });
      assert.deepEqual([over.verdict.decision, over.approval], ['block', null]);
      assert.match(over.verdict.reason, /pending_per_agent_max/);
      await requestOf(desk, { agent_id: 'second' });
      assert.match((await desk.check({ agent_id: 'third' })).verdict.reason, /pending_max/);
      // A request equal to a pending one does not count as another request.
      await requestOf(desk);
      desk.clock.now_ms += 61 * MINUTE_MS;
      await requestOf(desk, { agent_id: 'third' });
    },
  );

  law('the list has the newest first, and what fits all filters', async ({ store }) => {
    const desk = openDesk(store);
    const first = await requestOf(desk);
    desk.clock.now_ms += 1_000;
    const second = await requestOf(desk, { agent_id: 'other', tool: 'wire', tenant_id: 'acme' });
    const list = async (filter: object) =>
      (await desk.approvals.list({ limit: 10, ...filter })).map(({ request_id }) => request_id);
    assert.deepEqual(await list({}), [second, first]);
    assert.deepEqual(await list({ limit: 1 }), [second]);
    assert.deepEqual(await list({ agent_ids: ['other'] }), [second]);
    assert.deepEqual(await list({ tool: 'pay' }), [first]);
    assert.deepEqual(await list({ tenant_ids: ['default', 'none'] }), [first]);
    assert.deepEqual(await list({ tenant_ids: [] }), []);
    await vote(desk, first, 'deny');
    assert.deepEqual(await list({ status: 'denied' }), [first]);
    assert.deepEqual(await list({ status: 'pending' }), [second]);
    desk.clock.now_ms += 30 * MINUTE_MS;
    assert.deepEqual(await list({ status: 'pending' }), []);
    assert.deepEqual(await list({ status: 'expired' }), [second]);
  });

  law('who may not see a request is told that there is none', async ({ store }) => {
    const desk = openDesk(store);
    const id = await requestOf(desk);
    const none = () => false;
    const voted = await desk.approvals.vote(
      { request_id: id, vote: 'deny', caller: ANN, approver: null, comment: null },
      none,
    );
    assert.deepEqual(voted, { moved: false, cause: 'not_found', record: null });
    assert.deepEqual(await desk.approvals.cancel(id, AGENT, none), voted);
    assert.equal((await desk.approvals.find(id))?.status, 'pending');
  });

  law('a store that is gone blocks, and it goes on when it is back', async ({ store, another }) => {
    const desk = openDesk(store);
    const id = await inState(desk, 'approved');
    await store.close();
    const gone = await desk.check({}, id);
    assert.deepEqual([gone.verdict.decision, gone.verdict.rule], ['block', 'fault.store']);
    assert.equal(gone.verdict.fault, true);
    assert.equal((await desk.check()).verdict.rule, 'fault.store');
    assert.equal(desk.faults.length, 2);
    assert.equal((await openDesk(await another()).check({}, id)).verdict.decision, 'allow');
  });

  law('what is old is forgotten, what is open is not', async ({ store }) => {
    const desk = openDesk(store, { keep_ms: 60 * MINUTE_MS, ttl_ms_max: 500 * MINUTE_MS });
    const denied = await inState(desk, 'denied');
    const open = await requestOf(desk, { tool: 'long' });
    desk.clock.now_ms += 91 * MINUTE_MS;
    assert.equal(await deleteOldRequests(desk.parts), false);
    assert.equal(await desk.approvals.find(denied), null);
    assert.equal((await desk.approvals.find(open))?.status, 'pending');
    assert.deepEqual(await store.db.selectFrom('approval_votes').selectAll().execute(), []);
  });

  law('whoever waits is told within a moment, and many cost one question', async ({ store, another }) => {
    const desk = openDesk(store);
    const other = openDesk(await another());
    const id = await requestOf(desk);
    const many = Array.from({ length: 50 }, () => other.approvals.wait(id, 30_000, null));
    const late = await other.approvals.wait(id, 1, null);
    assert.equal(late.waited && late.record?.status, 'pending');
    await vote(desk, id, 'approve');
    for (const each of await Promise.all(many)) assert.equal(each.waited && each.record?.status, 'approved');
    assert.deepEqual(await other.approvals.wait('apr_none', 30_000, null), { waited: true, record: null });
    const next = await requestOf(desk);
    const gone = new AbortController();
    const aborted = other.approvals.wait(next, 30_000, gone.signal);
    const released = other.approvals.wait(next, 30_000, null);
    gone.abort();
    assert.equal((await aborted).waited, true);
    other.approvals.release();
    const free = await released;
    assert.equal(free.waited && free.record?.status, 'pending');
  });
});
