import assert from 'node:assert/strict';
import { TOTP } from 'otpauth';
import type { Store } from '../../platform/store/index.ts';
import { RACERS, runRace } from '../../platform/store/testing/races.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { createChallenge, takeChallenge, tryChallenge } from './challenges.ts';
import { deleteStaleSignIns } from './jobs.ts';
import { openTestAccounts, TEST_ORIGIN, TEST_PASSWORD } from './testing/account-parts.ts';
import { openTotpSecret, sealTotpSecret } from './totp-sealing.ts';
import type { SignInResult } from './types.ts';

const ROUNDS = process.env.NIGHTLY === undefined ? 1 : 3;

const getToken = (result: SignInResult): string => {
  assert.equal(result.outcome, 'signed_in');
  return result.outcome === 'signed_in' ? result.session_token : '';
};

const signIn = (store: Store, userId = 'ann', password = TEST_PASSWORD) => {
  const world = openTestAccounts(store);
  const ask = (name = userId, typed = password, origin = TEST_ORIGIN) =>
    world.accounts.signInWithPassword({ user_id: name, password: typed }, origin);
  return { ...world, ask };
};

withStores('accounts', (law) => {
  law('the store holds no password, cookie or link', async ({ store }) => {
    const { accounts, ask, events } = signIn(store);
    const added = await accounts.addUser(
      { user_id: 'Ann', name: 'Ann', roles: ['viewer'], tenants: ['acme'] },
      'operator',
    );
    const link = added!.link.split('#')[1]!;
    const linked = { token: link, password: TEST_PASSWORD, user_id: null };
    const first = getToken(await accounts.signInWithLink(linked, TEST_ORIGIN));
    const second = getToken(await ask('ANN'));
    const rows = await Promise.all(
      (['users', 'user_links', 'user_sessions', 'sign_in_counters'] as const).map((table) =>
        store.db.selectFrom(table).selectAll().execute(),
      ),
    );
    const kept = JSON.stringify([rows, events]);
    for (const secret of [TEST_PASSWORD, link, first, second]) assert.ok(!kept.includes(secret));
    assert.match(kept, /\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  law('a link works once, for its time, and a newer one voids it', async ({ store }) => {
    const { accounts, pass } = signIn(store);
    const user = { user_id: 'ann', name: null, roles: ['viewer'] as const, tenants: ['acme'] };
    const tokens = [(await accounts.addUser(user, 'operator'))!.link.split('#')[1]!];
    tokens.push((await accounts.resetUser('ann', 'operator'))!.link.split('#')[1]!);
    const use = (token: string) =>
      accounts.signInWithLink({ token, password: TEST_PASSWORD, user_id: null }, TEST_ORIGIN);
    assert.equal((await use(tokens[0]!)).outcome, 'refused');
    const both = await Promise.all([use(tokens[1]!), use(tokens[1]!)]);
    assert.deepEqual(both.map(({ outcome }) => outcome).sort(), ['refused', 'signed_in']);
    const late = (await accounts.resetUser('ann', 'operator'))!.link.split('#')[1]!;
    pass(3_600_000);
    assert.equal((await use(late)).outcome, 'refused');
  });

  law('the first link makes one administrator, and no second one', async ({ store }) => {
    const { accounts } = signIn(store);
    const links = [await accounts.createFirstLink(), await accounts.createFirstLink()];
    const use = (link: string | null, userId: string) =>
      accounts.signInWithLink(
        { token: link!.split('#')[1]!, password: TEST_PASSWORD, user_id: userId },
        TEST_ORIGIN,
      );
    const made = await Promise.all([use(links[0]!, 'root'), use(links[1]!, 'eve')]);
    assert.equal(made.filter(({ outcome }) => outcome === 'signed_in').length, 1);
    assert.equal((await accounts.listUsers('', 10)).length, 1);
    assert.equal(await accounts.createFirstLink(), null);
  });

  law('one of many processes makes the first administrator', async (world) => {
    const { accounts } = signIn(world.store);
    for (let round = 0; round < ROUNDS; round += 1) {
      const links: string[] = [];
      for (let at = 0; at < RACERS; at += 1) links.push((await accounts.createFirstLink())!);
      const work = new URL('testing/first-link-racer.ts', import.meta.url);
      const outcomes = await runRace<string, readonly string[]>({
        settings: world.settings,
        work,
        input: links,
      });
      const made = outcomes.filter((outcome) => outcome === 'signed_in');
      assert.equal(made.length, 1, outcomes.join());
      assert.equal((await accounts.listUsers('', 20)).length, 1);
      assert.equal((await world.store.db.selectFrom('user_links').selectAll().execute()).length, 0);
      await world.store.db.deleteFrom('users').execute();
    }
  });

  law('the secret of an app is encrypted in the store, for its user and by its key', async ({ store }) => {
    const { accounts, ask, add, now_ms, pass } = signIn(store);
    await add('ann');
    const { session } = (await accounts.identify(getToken(await ask())))!;
    const { secret } = (await accounts.startTotp('ann'))!;
    const code = () => new TOTP({ secret }).generate({ timestamp: now_ms() });
    const readStored = async () =>
      (await store.db.selectFrom('users').select('totp_secret').executeTakeFirstOrThrow()).totp_secret!;
    const sealed = await readStored();
    assert.ok(!sealed.includes(secret) && sealed.startsWith('v1.'));
    assert.equal((await accounts.confirmTotp(session, code())).outcome, 'done');
    const signInAgain = async (world = { accounts }) => {
      const result = await ask();
      const ticket = result.outcome === 'second_factor' ? result.ticket : '';
      return (await world.accounts.signInWithTotp({ ticket, code: code() }, TEST_ORIGIN)).outcome;
    };
    pass(60_000);
    assert.equal(await signInAgain(), 'signed_in');
    await store.db.updateTable('users').set({ totp_secret: secret }).execute();
    pass(60_000);
    await assert.rejects(signInAgain(), /cannot be decrypted/, 'a secret that is not encrypted');
    await store.db.updateTable('users').set({ totp_secret: sealed }).execute();
    pass(60_000);
    const key = 'another-key-of-authenticator-apps';
    const other = openTestAccounts(store, { totp_key: { state_dir: '/nowhere', key } });
    other.pass(180_000);
    await assert.rejects(signInAgain(other), /cannot be decrypted.*totp-key.*users reset/s);
    const place = { state_dir: '/nowhere', key };
    assert.throws(
      () => openTotpSecret(place, 'eve', sealTotpSecret(place, 'ann', secret)),
      /cannot be decrypted/,
      'a secret moved to another user',
    );
  });

  law(
    'a session ends when it is idle, too old, signed out, revoked or its user disabled',
    async ({ store }) => {
      const { accounts, ask, add, pass } = signIn(store);
      await add('ann');
      const open = async (token: string) => (await accounts.identify(token)) !== null;
      const idle = getToken(await ask());
      pass(3_599_000);
      assert.equal(await open(idle), true, 'a request keeps it open');
      pass(3_599_000);
      assert.equal(await open(idle), true);
      pass(3_600_000);
      assert.equal(await open(idle), false);
      const old = getToken(await ask());
      for (let at = 0; at < 12; at += 1) {
        assert.equal(await open(old), true);
        pass(3_595_000);
      }
      pass(60_000);
      assert.equal(await open(old), false, 'after twelve hours in any case');
      const [out, gone, last] = [getToken(await ask()), getToken(await ask()), getToken(await ask())];
      await accounts.signOut(out, 'user:ann');
      const { session } = (await accounts.identify(gone))!;
      assert.equal(await accounts.endUserSessions('ann', session.session_id, 'user:ann'), 1);
      assert.deepEqual([await open(out), await open(gone), await open(last)], [false, false, true]);
      await accounts.setUserDisabled('ann', true, 'operator');
      assert.equal(await open(last), false);
      assert.equal((await ask()).outcome, 'refused');
      await accounts.setUserDisabled('ann', false, 'operator');
      assert.equal((await ask()).outcome, 'signed_in');
      assert.equal(await open(last), false, 'an enabled user signs in again');
    },
  );

  law('a sign-in replaces the session of the browser', async ({ store }) => {
    const { accounts, ask, add } = signIn(store);
    await add('ann');
    const before = getToken(await ask());
    const after = getToken(await ask('ann', TEST_PASSWORD, { ...TEST_ORIGIN, session_token: before }));
    assert.notEqual(after, before);
    assert.equal(await accounts.identify(before), null);
    assert.equal((await accounts.identify(after))?.caller.id, 'user:ann');
  });

  law('roles and tenants apply from the next request on', async ({ store }) => {
    const { accounts, ask, add } = signIn(store);
    await add('ann');
    const token = getToken(await ask());
    const permissions = async () => (await accounts.identify(token))!.caller.permissions;
    assert.ok(!(await permissions()).includes('approvals:decide'));
    await accounts.changeUser('ann', { roles: ['admin'] }, 'operator');
    assert.ok((await permissions()).includes('approvals:decide'));
    assert.ok(!(await permissions()).includes('users:manage'), 'an administrator of one tenant');
    await accounts.changeUser('ann', { tenants: ['*'] }, 'operator');
    assert.ok((await permissions()).includes('users:manage'));
  });

  law('attempts over a limit are delayed before they are verified', async ({ store }) => {
    const { ask, add, pass, events, waits } = signIn(store);
    await add('ann');
    const outcomes = async (tries: Promise<SignInResult>[]) =>
      (await Promise.all(tries)).map(({ outcome }) => outcome).sort();
    const parallel = await outcomes(Array.from({ length: 6 }, () => ask('ann', 'wrong')));
    assert.deepEqual(parallel, ['limited', ...Array(5).fill('refused')]);
    assert.deepEqual(waits.splice(0).sort(), [10_000, 20_000], 'one after the other');
    assert.deepEqual(await ask(), { outcome: 'limited', retry_seconds: 30 }, 'no turn is free in 20 s');
    pass(10_000);
    assert.equal((await ask()).outcome, 'signed_in', 'the right password in its turn');
    assert.deepEqual(waits.splice(0), [20_000]);
    pass(900_000);
    for (let at = 0; at < 10; at += 1) await ask(`guess-${at}`, 'wrong');
    assert.deepEqual(waits.splice(0), []);
    assert.equal((await ask()).outcome, 'signed_in');
    assert.deepEqual(waits.splice(0), [1_000], 'the address has guessed other names');
    for (const address of ['192.0.2.2', '127.0.0.1'])
      for (let at = 0; at < 2; at += 1)
        assert.equal((await ask('ann', TEST_PASSWORD, { ...TEST_ORIGIN, address })).outcome, 'signed_in');
    assert.deepEqual(waits.splice(0), []);
    pass(900_000);
    assert.equal((await ask()).outcome, 'signed_in');
    assert.deepEqual(waits, [], 'the counts start again');
    const failed = events.filter(({ metadata }) => metadata.phase === 'sign_in_failed');
    assert.ok(failed.some(({ caller_id }) => caller_id === 'user:ann'));
    assert.ok(!JSON.stringify(failed).includes('guess-'), 'a typed name may be a password');
    const counters = await store.db.selectFrom('sign_in_counters').selectAll().execute();
    assert.ok(counters.length > 0 && !JSON.stringify(counters).includes('guess-'));
  });

  law('guesses from elsewhere do not delay a known device', async ({ store }) => {
    const { accounts, ask, add, waits } = signIn(store);
    await add('ann');
    await add('eve');
    const first = await ask();
    const deviceToken = first.outcome === 'signed_in' ? first.device_token : '';
    const device = { ...TEST_ORIGIN, device_token: deviceToken };
    const guess = (origin = TEST_ORIGIN) => ask('ann', 'wrong', origin);
    for (let at = 0; at < 20; at += 1) await guess();
    assert.ok(waits.splice(0).length > 0);
    const again = await ask('ann', TEST_PASSWORD, device);
    assert.equal(again.outcome, 'signed_in');
    assert.deepEqual(waits, []);
    assert.equal((await ask('ann', TEST_PASSWORD, device)).outcome, 'limited', 'the cookie has changed');
    const newer = { ...device, device_token: again.outcome === 'signed_in' ? again.device_token : '' };
    for (let at = 0; at < 3; at += 1) assert.equal((await guess(newer)).outcome, 'refused');
    assert.equal((await guess(newer)).outcome, 'limited', 'its own limit');
    const other = await ask('eve', TEST_PASSWORD, { ...newer, address: '192.0.2.2' });
    assert.equal(other.outcome, 'signed_in', 'a second user of the browser');
    await accounts.setUserDisabled('ann', true, 'operator');
    await accounts.setUserDisabled('ann', false, 'operator');
    const rows = await store.db.selectFrom('known_devices').selectAll().execute();
    assert.deepEqual([...new Set(rows.map(({ user_id }) => user_id))], ['eve']);
    assert.ok(!JSON.stringify(rows).includes(newer.device_token));
  });

  law('unlocking a user ends all delays', async ({ store }) => {
    const { accounts, ask, add, waits, events } = signIn(store);
    await add('ann');
    for (let at = 0; at < 20; at += 1) await ask('ann', 'wrong');
    assert.equal((await ask()).outcome, 'limited');
    waits.length = 0;
    assert.equal(await accounts.unlockUser('eve', 'operator'), null);
    assert.equal((await ask()).outcome, 'limited', 'a name without a user unlocks no one');
    assert.equal((await accounts.unlockUser('ANN', 'operator'))?.user_id, 'ann');
    assert.equal((await ask()).outcome, 'signed_in');
    assert.deepEqual(waits, []);
    assert.equal(events.filter(({ metadata }) => metadata.phase === 'user_unlock').length, 1);
  });

  law(
    'a code of the app counts once, in all processes, and guesses are limited',
    async ({ store, another }) => {
      const { accounts, ask, add, now_ms, pass } = signIn(store);
      await add('ann');
      const { session } = (await accounts.identify(getToken(await ask())))!;
      const { secret } = (await accounts.startTotp('ann'))!;
      const totp = new TOTP({ secret });
      const code = (aheadMs = 0) => totp.generate({ timestamp: now_ms() + aheadMs });
      assert.equal((await accounts.confirmTotp(session, code())).outcome, 'done');
      assert.equal(await accounts.startTotp('ann'), null, 'it is set up already');
      pass(60_000);
      const ticket = async () => {
        const result = await ask();
        return result.outcome === 'second_factor' ? result.ticket : '';
      };
      const other = await another();
      const elsewhere = openTestAccounts(other);
      elsewhere.pass(60_000);
      const tickets = [await ticket(), await ticket()];
      const raced = await Promise.all([
        accounts.signInWithTotp({ ticket: tickets[0]!, code: code() }, TEST_ORIGIN),
        accounts.signInWithTotp({ ticket: tickets[1]!, code: code() }, TEST_ORIGIN),
      ]);
      assert.deepEqual(raced.map(({ outcome }) => outcome).sort(), ['refused', 'signed_in']);
      await other.close();
      pass(1_800_000);
      const wrong = code() === '000000' ? '111111' : '000000';
      const outcomes: string[] = [];
      for (let at = 0; at < 5; at += 1) {
        const requested = { ticket: await ticket(), code: wrong };
        outcomes.push((await accounts.signInWithTotp(requested, TEST_ORIGIN)).outcome);
      }
      assert.deepEqual(outcomes, ['refused', 'refused', 'refused', 'limited', 'limited']);
      const right = { ticket: await ticket(), code: code() };
      assert.deepEqual(await accounts.signInWithTotp(right, TEST_ORIGIN), {
        outcome: 'limited',
        retry_seconds: 60,
      });
      pass(60_000);
      const later = { ticket: await ticket(), code: code() };
      assert.equal((await accounts.signInWithTotp(later, TEST_ORIGIN)).outcome, 'signed_in');
    },
  );

  law('a reset removes the password, the second factor and the sessions', async ({ store }) => {
    const { accounts, ask, add, now_ms } = signIn(store);
    await add('ann');
    const token = getToken(await ask());
    const { session } = (await accounts.identify(token))!;
    const { secret } = (await accounts.startTotp('ann'))!;
    await accounts.confirmTotp(session, new TOTP({ secret }).generate({ timestamp: now_ms() }));
    const reset = await accounts.resetUser('ann', 'operator');
    assert.partialDeepStrictEqual(reset!.user, { has_password: false, has_totp: false });
    assert.equal((await ask()).outcome, 'refused');
    assert.equal((await accounts.listSessions('ann')).length, 0);
  });

  law('a one-time value is taken once and by its own kind', async ({ store }) => {
    const { parts, pass } = signIn(store);
    const made = { user_id: 'ann', data: 'x' };
    const value = await createChallenge(parts, 'oidc', made);
    assert.equal(await takeChallenge(parts, 'second_factor', value), null);
    const taken = await Promise.all([
      takeChallenge(parts, 'oidc', value),
      takeChallenge(parts, 'oidc', value),
    ]);
    assert.equal(taken.filter((one) => one !== null).length, 1);
    const tried = await createChallenge(parts, 'second_factor', made);
    for (let at = 0; at < 5; at += 1) assert.ok(await tryChallenge(parts, 'second_factor', tried));
    assert.equal(await tryChallenge(parts, 'second_factor', tried), null);
    const late = await createChallenge(parts, 'oidc', made);
    pass(300_000);
    assert.equal(await takeChallenge(parts, 'oidc', late), null);
  });

  law('what has ended is deleted, and nothing else', async ({ store }) => {
    const { accounts, ask, add, pass, parts, now_ms } = signIn(store);
    await add('ann');
    await createChallenge(parts, 'oidc', { user_id: null, data: '' });
    await ask('ann', 'wrong');
    pass(43_200_000);
    const token = getToken(await ask());
    assert.ok((await deleteStaleSignIns(store, now_ms(), parts.settings)) >= 2);
    assert.notEqual(await accounts.identify(token), null);
    assert.equal((await store.db.selectFrom('sign_in_challenges').selectAll().execute()).length, 0);
    assert.equal((await store.db.selectFrom('user_sessions').selectAll().execute()).length, 1);
  });
});
