/** Grants on both databases: which calls they cover, how uses are counted, and who creates and ends them. */
import assert from 'node:assert/strict';
import { judge } from '../../core/decision/judge.ts';
import { createMemoryValues } from '../../core/flow/memory-values.ts';
import { celEvaluator } from '../../core/policy/conditions/cel.ts';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { type Crossing, type Json, NO_PRINCIPAL } from '../../core/types/index.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { buildAgentCaller } from '../../runtime/access/callers.ts';
import { AGENT, ALL, ANN, BOB, getCall, openTestApprovals, type TestApprovals } from './testing/open.ts';
import type { RequestedGrant } from './types.ts';

const HOUR_MS = 3_600_000;
const EVENT_ID = `evt_${Date.UTC(2026, 0, 31, 11, 58).toString(16).padStart(11, '0')}0123456789abc`;

const ask = (name: string, tool: string, more: object = {}) => ({
  name,
  boundary: 'action',
  action: 'require_approval',
  condition: { tools: [tool] },
  ...more,
});
const RULES = [
  {
    ...{ name: 'no-evil', boundary: 'action', action: 'block' },
    condition: { tools: ['mail'], when: 'has(args.to) && args.to == "evil"' },
  },
  ask('mail-asks', 'mail'),
  ask('wire-asks', 'wire', { approval: { min_approvals: 2 } }),
];
const CONTRACTS = {
  contracts: [
    {
      tool_name: 'send_money',
      flow: {
        arguments: { recipient: { any_of: ['user'], otherwise: 'require_approval' } },
        others: { any_of: ['trivial'], otherwise: 'require_approval' },
      },
    },
  ],
};
const buildPolicy = (rules: readonly object[] = RULES) => buildTestPolicy({ rules, documents: [CONTRACTS] });

function openTest(store: Parameters<typeof openTestApprovals>[0], limits = {}) {
  const policies = { active: buildPolicy() };
  return { ...openTestApprovals(store, limits, false, policies), policies };
}

const call = (value: Json, more: Partial<Crossing> = {}): Partial<Crossing> => ({
  tool: 'mail',
  content: { kind: 'json', value },
  ...more,
});
const MAIL = call({ to: 'ada', body: 'Hello' });
const OTHER_BODY = call({ to: 'ada', body: 'Again' });

/** Requests approval for a call, approves it with a grant, and returns both ids. */
async function grant(at: TestApprovals, parts: Partial<Crossing>, choice: Partial<RequestedGrant> = {}) {
  const { approval } = await at.check(parts);
  const id = approval!.request_id;
  const voted = await at.approvals.vote(
    {
      ...{ request_id: id, vote: 'approve', caller: ANN, approver: null, comment: null },
      grant: { scope: 'session', uses_max: null, ttl_ms: null, ...choice },
    },
    ALL,
  );
  assert.ok(voted.moved, JSON.stringify(voted));
  assert.ok(voted.record.grant_id !== null);
  return { request_id: id, grant_id: voted.record.grant_id };
}

/** Returns the grant that lets a call pass; `asked` or `blocked` if none does. */
async function tryCall(at: TestApprovals, parts: Partial<Crossing>, caller = AGENT): Promise<string> {
  const { verdict, grant_id, approval } = await at.check(parts, null, caller);
  if (verdict.decision !== 'block') return grant_id ?? 'without a grant';
  return approval === null ? `blocked by ${verdict.rule}` : 'asked';
}

withStores('grants', (law) => {
  law('equal calls pass and are counted', async ({ store }) => {
    const at = openTest(store);
    const { grant_id, request_id } = await grant(at, MAIL);
    assert.equal(await tryCall(at, OTHER_BODY), grant_id);
    assert.equal(await tryCall(at, call({ to: 'ada' })), grant_id);
    const found = await at.approvals.findGrant(grant_id);
    assert.deepEqual([found?.uses, found?.status, found?.request_id], [2, 'active', request_id]);
    assert.match(found?.sentence ?? '', /with the same `to`\. Free: `body`/);
    assert.deepEqual(
      at.events.map(({ metadata, caller_id }) => [metadata.phase, metadata.grant_id, caller_id]),
      [
        ['approval_pending', undefined, 'agent-token'],
        ['approval_approved', grant_id, 'cli:ann'],
        ['approval_grant', grant_id, 'cli:ann'],
      ],
    );
  });

  law('everything else needs an approval', async ({ store }) => {
    const at = openTest(store);
    await grant(at, MAIL);
    const person = { ...NO_PRINCIPAL, user: { user_id: 'ada', user_email: null, groups: [], scopes: null } };
    const others: readonly Partial<Crossing>[] = [
      call({ to: 'bob', body: 'Hello' }),
      call({ to: 'ada', body: 'Hello', bcc: 'bob' }),
      call({ body: 'Hello' }),
      call({ to: ['ada'], body: 'Hello' }),
      { ...MAIL, session_id: 's-2' },
      { ...MAIL, session_id: null },
      { ...MAIL, agent_id: 'other' },
      { ...MAIL, source_agent_id: 'other' },
      { ...MAIL, tenant_id: 'other' },
      { ...MAIL, principal: person },
      { ...MAIL, principal: { ...NO_PRINCIPAL, chain: ['planner'] } },
      {
        ...{ ...MAIL, principal: { ...NO_PRINCIPAL, task_id: 'tsk_1' } },
        task: { task_id: 'tsk_1', refusal: null },
      },
    ];
    for (const parts of others) assert.equal(await tryCall(at, parts), 'asked', JSON.stringify(parts));
    const stranger = buildAgentCaller('key:stranger', ['check'], '*', '*');
    assert.equal(await tryCall(at, OTHER_BODY, stranger), 'asked');
    assert.match(await tryCall(at, OTHER_BODY), /^grt_/);
  });

  law('a grant for a person covers that person alone', async ({ store }) => {
    const at = openTest(store);
    const prove = (userId: string): Partial<Crossing> => ({
      ...MAIL,
      principal: { ...NO_PRINCIPAL, user: { user_id: userId, user_email: null, groups: [], scopes: null } },
    });
    const { grant_id } = await grant(at, prove('ada'));
    assert.equal(await tryCall(at, prove('ada')), grant_id);
    assert.equal(await tryCall(at, prove('bob')), 'asked');
    assert.equal(await tryCall(at, MAIL), 'asked');
  });

  law('scopes widen by session and by arguments alone', async ({ store }) => {
    const at = openTest(store);
    const agent = await grant(at, MAIL, { scope: 'agent' });
    assert.equal(await tryCall(at, { ...MAIL, session_id: 's-2' }), agent.grant_id);
    assert.equal(await tryCall(at, call({ to: 'bob' }, { session_id: 's-2' })), 'asked');
    const any = await grant(at, call({ to: 'cid' }), { scope: 'any_arguments' });
    assert.equal(await tryCall(at, call({ to: 'dan', cc: 'eve' })), any.grant_id);
    assert.equal(await tryCall(at, call({ to: 'dan' }, { session_id: 's-2' })), 'asked');
  });

  law('a block is never overridden and uses nothing', async ({ store }) => {
    const at = openTest(store);
    const { grant_id } = await grant(at, MAIL, { scope: 'any_arguments' });
    assert.equal(await tryCall(at, call({ to: 'evil' })), 'blocked by no-evil');
    assert.equal((await at.approvals.findGrant(grant_id))?.uses, 0);
  });

  law('grants end by time, by use and by revocation', async ({ store, another }) => {
    const at = openTest(store);
    const used = await grant(at, MAIL, { uses_max: 1 });
    assert.equal(await tryCall(at, OTHER_BODY), used.grant_id);
    assert.equal(await tryCall(at, OTHER_BODY), 'asked');
    assert.equal((await at.approvals.findGrant(used.grant_id))?.status, 'used_up');

    const revoked = await grant(at, call({ to: 'bob' }));
    const second = openTest(await another());
    assert.equal(await tryCall(second, call({ to: 'bob' })), revoked.grant_id);
    const record = await at.approvals.revokeGrant(revoked.grant_id, 'cli:bob', ALL);
    assert.deepEqual([record?.status, record?.revoked_by], ['revoked', 'cli:bob']);
    assert.equal(await tryCall(second, call({ to: 'bob', body: 'x' })), 'asked');
    assert.equal(at.events.at(-1)?.metadata.phase, 'approval_grant_revoke');

    const expired = await grant(at, call({ to: 'cid' }), { ttl_ms: HOUR_MS });
    at.clock.now_ms += HOUR_MS - 1;
    assert.equal(await tryCall(at, call({ to: 'cid' })), expired.grant_id);
    at.clock.now_ms += 1;
    assert.equal(await tryCall(at, call({ to: 'cid' })), 'asked');
  });

  law('concurrent uses are exact', async ({ store, another }) => {
    const one = openTest(store);
    const two = openTest(await another());
    await grant(one, MAIL, { uses_max: 3 });
    const tries = Array.from({ length: 10 }, (_none, at) => tryCall(at % 2 === 0 ? one : two, OTHER_BODY));
    const passed = (await Promise.all(tries)).filter((each) => each.startsWith('grt_'));
    assert.equal(passed.length, 3);
  });

  law('a changed rule asks again, another rule does not', async ({ store }) => {
    const at = openTest(store);
    const { grant_id } = await grant(at, MAIL);
    at.policies.active = buildPolicy([...RULES, ask('other-asks', 'other')]);
    assert.equal(await tryCall(at, MAIL), grant_id);
    at.policies.active = buildPolicy(
      RULES.map((rule) => (rule.name === 'mail-asks' ? { ...rule, reason: 'Changed.' } : rule)),
    );
    assert.equal(await tryCall(at, OTHER_BODY), 'asked');
    at.policies.active = buildPolicy([ask('first', 'mail'), ...RULES]);
    assert.equal(await tryCall(at, call({ to: 'ada', body: 'more' })), 'asked');
    at.policies.active = buildPolicy();
    assert.equal(await tryCall(at, call({ to: 'ada', body: 'last' })), grant_id);
  });

  law('one decision that is repeated counts one use', async ({ store }) => {
    const at = openTest(store);
    const { grant_id } = await grant(at, MAIL, { uses_max: 1 });
    const crossing = getCall(OTHER_BODY);
    const question = {
      judged: judge(crossing, at.policies.active, null, celEvaluator),
      crossing,
      caller: AGENT,
      approval_request_id: null,
      judgeWith: (rules: readonly string[]) =>
        judge({ ...crossing, approved_rules: rules }, at.policies.active, null, celEvaluator),
    };
    assert.equal((await at.approvals.resolve(question)).grant_id, grant_id);
    const again = await at.approvals.resolve({ ...question, counted_grant_id: grant_id });
    assert.equal(again.grant_id, grant_id);
    assert.equal((await at.approvals.findGrant(grant_id))?.uses, 1);
    assert.equal((await at.approvals.resolve(question)).grant_id, undefined);
  });

  law('several approvers must choose the same grant', async ({ store }) => {
    const at = openTest(store);
    const wire = call({ to: 'ada' }, { tool: 'wire' });
    const voteBoth = async (session: string, second: RequestedGrant | undefined) => {
      const { approval } = await at.check({ ...wire, session_id: session });
      const vote = (caller: typeof ANN, chosen: RequestedGrant | undefined) =>
        at.approvals.vote(
          {
            ...{ request_id: approval!.request_id, vote: 'approve', caller, approver: null, comment: null },
            grant: chosen,
          },
          ALL,
        );
      assert.ok((await vote(ANN, { scope: 'session', uses_max: 9, ttl_ms: null })).moved);
      const last = await vote(BOB, second);
      assert.ok(last.moved);
      return last.record.grant_id;
    };
    const made = await voteBoth('s-1', { scope: 'session', uses_max: 4, ttl_ms: null });
    assert.equal((await at.approvals.findGrant(made!))?.uses_max, 4);
    assert.equal(await voteBoth('s-2', undefined), null);
    assert.equal(await voteBoth('s-3', { scope: 'agent', uses_max: null, ttl_ms: null }), null);
    const own = buildAgentCaller('cli:ann', ['check'], '*', '*');
    assert.equal(await tryCall(at, { ...wire, session_id: 's-1' }, own), 'asked');
  });

  law('wrong choices are refused', async ({ store }) => {
    const at = openTest(store, { grants_per_agent_max: 1 });
    const { approval } = await at.check(call({ recipient: 'x' }, { tool: 'send_money', values_seen: SEEN }));
    const vote = async (requestId: string, choice: RequestedGrant, caller = ANN) => {
      const voted = await at.approvals.vote(
        { request_id: requestId, vote: 'approve', caller, approver: null, comment: null, grant: choice },
        ALL,
      );
      return voted.moved ? null : voted.cause;
    };
    const id = approval!.request_id;
    const choice = { scope: 'session', uses_max: null, ttl_ms: null } as const;
    assert.equal(await vote(id, { ...choice, scope: 'any_arguments' }), 'scope_not_proposed');
    assert.equal(await vote(id, { ...choice, uses_max: 101 }), 'grant_limit');
    assert.equal(await vote(id, { ...choice, ttl_ms: 25 * HOUR_MS }), 'grant_limit');
    assert.equal(await vote(id, choice, { ...ANN, id: AGENT.id }), 'own_request');
    assert.equal(await vote(id, choice), null);
    const next = await at.check(MAIL);
    assert.equal(await vote(next.approval!.request_id, choice), 'too_many_grants');
  });

  law('without the store, granted calls are blocked', async ({ store, another }) => {
    const at = openTest(store);
    const { grant_id } = await grant(at, MAIL);
    const second = openTest(await another());
    await store.close();
    assert.equal(await tryCall(at, OTHER_BODY), 'blocked by fault.store');
    assert.equal(await tryCall(second, OTHER_BODY), grant_id);
  });

  law('without its event nothing is granted or revoked', async ({ store }) => {
    const at = openTest(store);
    const { approval } = await at.check(MAIL);
    const { grant_id } = await grant(at, call({ to: 'bob' }));
    at.journal.fault = new Error('full');
    const vote = at.approvals.vote(
      {
        ...{ request_id: approval!.request_id, vote: 'approve', caller: ANN, approver: null, comment: null },
        grant: { scope: 'session', uses_max: null, ttl_ms: null },
      },
      ALL,
    );
    await assert.rejects(vote);
    await assert.rejects(at.approvals.revokeGrant(grant_id, 'cli:bob', ALL));
    at.journal.fault = null;
    assert.equal((await at.approvals.listGrants({ limit: 10 })).length, 1);
    assert.equal((await at.approvals.findGrant(grant_id))?.status, 'active');
  });

  law('rows and events hold no value', async ({ store }) => {
    const at = openTest(store);
    const secretish = 'acct-7391-values';
    await grant(at, call({ to: secretish, body: `pay ${secretish}` }));
    await tryCall(at, call({ to: secretish }));
    assert.doesNotMatch(JSON.stringify(at.events), /acct-7391/);
    const rows = await store.db.selectFrom('approval_grants').selectAll().execute();
    const offers = await store.db
      .selectFrom('approval_requests')
      .select(['grant_offer', 'question_key'])
      .execute();
    assert.doesNotMatch(JSON.stringify([rows, offers]), /acct-7391/);
  });

  law('a request says where its values come from', async ({ store }) => {
    const at = openTest(store);
    const { approval } = await at.check(
      call({ recipient: 'DE89370400440532013000' }, { tool: 'send_money', values_seen: SEEN }),
    );
    const record = await at.approvals.find(approval!.request_id);
    assert.deepEqual(record?.origins, [
      {
        argument: 'recipient',
        labels: ['untrusted.mail'],
        event_id: EVENT_ID,
        age_seconds: 120,
        named_by: null,
        sentence: `\`recipient\` comes from \`untrusted.mail\`, content of strangers, event ${EVENT_ID}, 2 minutes ago; no prompt and no task names it.`,
      },
    ]);
    assert.doesNotMatch(JSON.stringify(at.events), /DE893704/);
    assert.equal((await at.approvals.find((await at.check(MAIL)).approval!.request_id))?.origins, null);
  });

  law('the sixth equal question proposes a rule', async ({ store }) => {
    const at = openTest(store);
    const askAndVote = async (vote: 'approve' | 'deny', to: string): Promise<boolean> => {
      const { approval } = await at.check(call({ to }));
      const id = approval!.request_id;
      const isProposed = (await at.approvals.find(id))?.rule_proposed === true;
      await at.approvals.vote({ request_id: id, vote, caller: ANN, approver: null, comment: null }, ALL);
      return isProposed;
    };
    const proposed: boolean[] = [];
    for (let time = 0; time < 6; time++) proposed.push(await askAndVote('approve', 'ada'));
    assert.deepEqual(proposed, [false, false, false, false, false, true]);
    assert.equal(await askAndVote('deny', 'ada'), true);
    assert.equal(await askAndVote('approve', 'ada'), false);
    for (let time = 0; time < 5; time++) await askAndVote('approve', 'bob');
    assert.equal(await askAndVote('approve', 'cid'), false);
    at.clock.now_ms += 8 * 24 * HOUR_MS;
    assert.equal(await askAndVote('approve', 'bob'), false);
  });
});

const VALUES = createMemoryValues((form, text) => `${form} ${text}`);
VALUES.save(
  { add: [{ hash: 'folded de89370400440532013000', form: 'folded', label: 'untrusted.mail' }], end: [] },
  EVENT_ID,
);
const SEEN = VALUES.seen;
