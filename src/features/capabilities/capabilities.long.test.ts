import assert from 'node:assert/strict';
import type { Store } from '../../platform/store/index.ts';
import { RACERS, runRace } from '../../platform/store/testing/races.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import type { CapabilityPresentation } from '../../runtime/enforcement/capability.ts';
import { type CapabilityParts, openCapabilities } from './capabilities.ts';
import { deleteExpiredTokens, EXPIRED_TOKEN_KEPT_MS } from './jobs.ts';
import { createCapabilityParts } from './testing/parts.ts';
import type { Outcome, RaceInput } from './testing/race.ts';
import type { CapabilityCause, CapabilityRequest } from './types.ts';

const REQUEST: CapabilityRequest = {
  tenant_id: 'default',
  agent_id: 'bot',
  session_id: null,
  scope: { tool_name: 'send_*', actions: ['invoke'], secret_keys: ['mail/*'] },
  ttl_ms: null,
  issued_by: 'operator',
};

const ASKED: Omit<CapabilityPresentation, 'token'> = {
  tenant_id: 'default',
  agent_id: 'bot',
  session_id: null,
  tool: 'send_email',
  action: 'invoke',
  secret_key: null,
  caller_id: 'key:a',
  has_credential: true,
};

function openTestCapabilities(store: Store, limits: Partial<CapabilityParts> = {}) {
  const world = createCapabilityParts(store, limits);
  const capabilities = openCapabilities(world.parts);
  const issue = async (request: Partial<CapabilityRequest> = {}) => {
    const made = await capabilities.issue({ ...REQUEST, ...request });
    assert.ok(made !== null);
    return made;
  };
  const causeOf = async (
    requested: Partial<CapabilityPresentation> & { readonly token: string },
  ): Promise<CapabilityCause | null> => {
    const used = await capabilities.use({ ...ASKED, ...requested });
    return used.taken ? null : used.cause;
  };
  return { ...world, capabilities, issue, causeOf };
}

withStores('capability tokens', (law) => {
  law('a token is shown once, and only its hash is kept', async ({ store }) => {
    const { issue, capabilities, events } = openTestCapabilities(store);
    const { token, record } = await issue();
    assert.match(token, /^svc_cap_[0-9a-f]{24}_[A-Za-z0-9_-]{43}$/);
    assert.equal(record.token_id, `cap_${token.slice(8, 32)}`);
    const secret = token.slice(33);
    const rows = await store.db.selectFrom('capability_tokens').selectAll().execute();
    const kept = JSON.stringify([rows, events, await capabilities.list({ limit: 10 }), record]);
    assert.ok(kept.includes(record.token_id) && !kept.includes(secret));
    assert.equal(
      new Set(await Promise.all(Array.from({ length: 50 }, async () => (await issue()).token))).size,
      50,
    );
  });

  law('who may use a token, and who may not', async ({ store }) => {
    const { issue, causeOf } = openTestCapabilities(store);
    const { token } = await issue();
    const bound = (await issue({ session_id: 's1' })).token;
    const wide = (await issue({ scope: { tool_name: '*', actions: ['*'], secret_keys: [] } })).token;
    const cases: readonly (readonly [
      CapabilityCause | null,
      Partial<CapabilityPresentation> & { token: string },
    ])[] = [
      [null, { token }],
      [null, { token, tool: 'send_' }],
      [null, { token, action: 'INVOKE' }],
      [null, { token, session_id: 'any' }],
      [null, { token, secret_key: 'mail/password' }],
      ['secret_key', { token, secret_key: 'mail' }],
      ['secret_key', { token, secret_key: 'db/mail/x' }],
      ['secret_key', { token: wide, secret_key: 'mail/password' }],
      [null, { token: wide, tool: 'anything', action: 'delete' }],
      ['tool', { token, tool: 'Send_email' }],
      ['tool', { token, tool: 'resend_email' }],
      ['action', { token, action: 'delete' }],
      ['agent', { token, agent_id: 'other' }],
      ['agent', { token, agent_id: 'Bot' }],
      ['tenant', { token, tenant_id: 'acme' }],
      ['tenant', { token, tenant_id: 'acme', agent_id: 'other', tool: 'x' }],
      [null, { token: bound, session_id: 's1' }],
      ['session', { token: bound, session_id: 's2' }],
      ['session', { token: bound }],
      ['unknown', { token: `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}` }],
      ['unknown', { token: `svc_cap_${'0'.repeat(24)}_${token.slice(33)}` }],
      ['unknown', { token: token.slice(8, 32) }],
      ['unknown', { token: `cap_${token.slice(8, 32)}` }],
      ['unknown', { token: '' }],
      ['unknown', { token: ` ${token}` }],
      ['unknown', { token: `${token}\n` }],
    ];
    for (const [cause, requested] of cases)
      assert.equal(await causeOf(requested), cause, JSON.stringify({ ...requested, token: '' }));
    assert.equal(cases.length, 26);
  });

  law('a token ends with its time, which has a default and a bound', async ({ store }) => {
    const { issue, causeOf, clock, capabilities } = openTestCapabilities(store);
    clock.now_ms = 1_000_000_000;
    const short = await issue({ ttl_ms: 1_000 });
    const usual = await issue();
    const long = await issue({ ttl_ms: 86_400_000 });
    clock.now_ms += 999;
    assert.equal(await causeOf({ token: short.token }), null);
    clock.now_ms += 1;
    assert.equal(await causeOf({ token: short.token }), 'expired');
    assert.equal((await capabilities.find(short.record.token_id))?.status, 'expired');
    clock.now_ms = 1_000_000_000 + 600_000;
    assert.equal(await causeOf({ token: usual.token }), 'expired');
    clock.now_ms = 1_000_000_000 + 3_599_999;
    assert.equal(await causeOf({ token: long.token }), null);
    clock.now_ms += 1;
    assert.equal(await causeOf({ token: long.token }), 'expired');
  });

  law('a clock that is set back takes no token from its future', async ({ store }) => {
    const { issue, causeOf, clock } = openTestCapabilities(store);
    const { token } = await issue();
    clock.now_ms -= 59_000;
    assert.equal(await causeOf({ token }), null);
    clock.now_ms -= 86_400_000;
    assert.equal(await causeOf({ token }), 'not_yet_valid');
  });

  law('a revoked token is ended for every process, once, by who did it first', async ({ store, another }) => {
    const here = openTestCapabilities(store);
    const there = openTestCapabilities(await another());
    const { token, record } = await here.issue();
    assert.equal(await there.causeOf({ token }), null);
    const first = await here.capabilities.revoke(record.token_id, 'ann', () => true);
    assert.deepEqual(
      [first?.ended, first?.record.status, first?.record.revoked_by],
      [true, 'revoked', 'ann'],
    );
    assert.equal(await there.causeOf({ token }), 'revoked');
    const second = await there.capabilities.revoke(record.token_id, 'bob', () => true);
    assert.deepEqual([second?.ended, second?.record.revoked_by], [false, 'ann']);
    assert.equal(await here.capabilities.revoke('cap_000000000000000000000000', 'ann', () => true), null);
    assert.equal(await here.capabilities.revoke(record.token_id, 'ann', () => false), null);
    const phases = [...here.events, ...there.events].map(({ metadata }) => metadata.phase);
    assert.deepEqual(phases, ['capability_issue', 'capability_revoke']);
  });

  law('tokens, uses and revocations are there after a restart', async ({ store, another }) => {
    const before = openTestCapabilities(store);
    const live = await before.issue();
    const dead = await before.issue();
    await before.capabilities.revoke(dead.record.token_id, 'ann', () => true);
    await before.causeOf({ token: live.token });
    await store.close();
    const after = openTestCapabilities(await another());
    assert.equal(await after.causeOf({ token: live.token }), null);
    assert.equal(await after.causeOf({ token: dead.token }), 'revoked');
    assert.equal((await after.capabilities.find(live.record.token_id))?.uses, 2);
  });

  law(
    'what is issued or revoked is written down, and a token that cannot be is not there',
    async ({ store }) => {
      const { capabilities, events, issue, journal, causeOf } = openTestCapabilities(store);
      const { token, record } = await issue({ tenant_id: 'acme', session_id: 's1' });
      const [event] = events;
      assert.deepEqual(
        [
          event?.tenant_id,
          event?.agent_id,
          event?.tool_name,
          event?.session_id,
          event?.caller_id,
          event?.decision,
        ],
        ['acme', 'bot', 'send_*', 's1', 'operator', 'allow'],
      );
      assert.deepEqual(event?.metadata, {
        capability_actions: ['invoke'],
        capability_token_id: record.token_id,
        expires_at: record.expires_at,
        phase: 'capability_issue',
        secret_keys: ['mail/*'],
      });
      journal.refuses = true;
      await assert.rejects(capabilities.issue(REQUEST), Unavailable);
      assert.equal((await capabilities.list({ limit: 10 })).length, 1);
      // A revoked token is unusable even if its event cannot be written.
      await assert.rejects(
        capabilities.revoke(record.token_id, 'ann', () => true),
        Unavailable,
      );
      assert.equal(await causeOf({ token, tenant_id: 'acme', session_id: 's1' }), 'revoked');
    },
  );

  law(
    'who shows many wrong tokens is not looked at for a while, and nobody else suffers',
    async ({ store }) => {
      const { issue, causeOf, clock } = openTestCapabilities(store);
      const { token } = await issue();
      const wrong = `svc_cap_${'0'.repeat(24)}_${'A'.repeat(43)}`;
      for (let tries = 0; tries < 20; tries += 1) assert.equal(await causeOf({ token: wrong }), 'unknown');
      assert.equal(await causeOf({ token: wrong }), 'throttled');
      assert.equal(await causeOf({ token }), 'throttled');
      assert.equal(await causeOf({ token, caller_id: 'key:b' }), null);
      // Callers without a credential share one name.
      for (let tries = 0; tries < 30; tries += 1)
        assert.equal(
          await causeOf({ token: wrong, caller_id: 'loopback', has_credential: false }),
          'unknown',
        );
      assert.equal(await causeOf({ token, caller_id: 'loopback', has_credential: false }), null);
      clock.now_ms += 60_000;
      assert.equal(await causeOf({ token }), null);
    },
  );

  law('no more are live than may be; those that ended make room', async ({ store }) => {
    const { capabilities, issue, clock } = openTestCapabilities(store, { active_max: 2 });
    const first = await issue();
    await issue({ ttl_ms: 1_000 });
    assert.equal(await capabilities.issue(REQUEST), null);
    await capabilities.revoke(first.record.token_id, 'ann', () => true);
    await issue();
    assert.equal(await capabilities.issue(REQUEST), null);
    clock.now_ms += 1_000;
    await issue();
  });

  law('lists are filtered, bounded, and newest first', async ({ store }) => {
    const { capabilities, issue, clock } = openTestCapabilities(store);
    const ids: string[] = [];
    for (const agentId of ['a', 'b', 'a']) {
      ids.push(
        (await issue({ agent_id: agentId, tenant_id: agentId === 'b' ? 'acme' : 'default' })).record.token_id,
      );
      clock.now_ms += 1;
    }
    await capabilities.revoke(ids[0]!, 'ann', () => true);
    const list = async (filter: object) =>
      (await capabilities.list({ limit: 10, ...filter })).map(({ token_id }) => ids.indexOf(token_id));
    assert.deepEqual(await list({}), [2, 1, 0]);
    assert.deepEqual(await list({ limit: 1 }), [2]);
    assert.deepEqual(await list({ agent_ids: ['a'] }), [2, 0]);
    assert.deepEqual(await list({ agent_ids: [] }), []);
    assert.deepEqual(await list({ tenant_ids: ['acme'] }), [1]);
    assert.deepEqual(await list({ status: 'active' }), [2, 1]);
    assert.deepEqual(await list({ status: 'revoked' }), [0]);
    clock.now_ms += 3_600_000;
    assert.deepEqual(await list({ status: 'expired' }), [2, 1]);
    assert.deepEqual(await list({ status: 'active' }), []);
  });

  law('tokens are forgotten some time after they expired, and not before', async ({ store }) => {
    const { issue, capabilities, clock } = openTestCapabilities(store);
    const { record } = await issue();
    const endMs = Date.parse(record.expires_at);
    clock.now_ms = endMs;
    await issue();
    assert.equal(await deleteExpiredTokens(store, endMs + EXPIRED_TOKEN_KEPT_MS), 0);
    assert.equal(await deleteExpiredTokens(store, endMs + EXPIRED_TOKEN_KEPT_MS + 1), 1);
    assert.equal(await capabilities.find(record.token_id), null);
    assert.equal((await capabilities.list({ limit: 10 })).length, 1);
  });

  law(
    'of processes that use and revoke 100 tokens, none uses one whose end was told',
    async ({ store, settings }) => {
      const { issue } = openTestCapabilities(store);
      const tokens: RaceInput['tokens'][number][] = [];
      for (let count = 0; count < 100; count += 1) {
        const { token, record } = await issue();
        tokens.push({ token, token_id: record.token_id });
      }
      const input: RaceInput = { tokens, tool: 'send_email' };
      const outcomes = await runRace<Outcome, RaceInput>({
        settings,
        work: new URL('./testing/race.ts', import.meta.url),
        input,
      });
      const reported = new Map<string, bigint>();
      for (const { token_id, answered_ns } of outcomes.flatMap(({ revoked }) => revoked)) {
        const before = reported.get(token_id);
        if (before === undefined || answered_ns < before) reported.set(token_id, answered_ns);
      }
      const uses = outcomes.flatMap(({ uses: own }) => own);
      const late = uses.filter(
        ({ token_id, began_ns, taken }) => taken && began_ns > reported.get(token_id)!,
      );
      assert.equal(late.length, 0);
      assert.deepEqual([reported.size, uses.length], [100, (RACERS / 2) * 6 * 100]);
      const ended = outcomes.flatMap(({ revoked }) => revoked.filter(({ ended: did }) => did));
      assert.equal(ended.length, 100, 'each token is ended by one');
      // A race in which every use came before the revocation, or after it, would prove nothing.
      const taken = uses.filter((use) => use.taken).length;
      assert.ok(taken > 0 && taken < uses.length, `${taken} of ${uses.length}`);
      const rows = await store.db.selectFrom('capability_tokens').select('uses').execute();
      assert.equal(
        rows.reduce((sum, row) => sum + row.uses, 0),
        taken,
        'every use that was taken is counted, and no other',
      );
    },
  );
});
