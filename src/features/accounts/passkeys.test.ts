import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openServiceStore } from '../../server/store.ts';
import { openTestAccounts, TEST_ORIGIN, TEST_PASSWORD } from './testing/account-parts.ts';
import { openAuthenticator, type PasskeyFalsification } from './testing/authenticator.ts';

const ORIGIN = 'http://localhost:8000';
const BROWSER = { ...TEST_ORIGIN, origin: ORIGIN };

test('a passkey signs its user in, alone or after a password, and no false answer does', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'passkeys-'));
  const store = await openServiceStore({ kind: 'sqlite', path: join(folder, 'store.db') }, { migrate: true });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { accounts, add, events } = openTestAccounts(store, { attempts_per_address_max: 100 });
  await add('ann');
  await add('bob');
  const open = async (userId: string) => {
    const result = await accounts.signInWithPassword(
      { user_id: userId, password: TEST_PASSWORD },
      TEST_ORIGIN,
    );
    return (await accounts.identify(result.outcome === 'signed_in' ? result.session_token : ''))!.session;
  };
  const session = await open('ann');
  const key = openAuthenticator(ORIGIN);

  const register = async (change: PasskeyFalsification) => {
    const { challenge } = await accounts.startPasskeyRegistration('ann', BROWSER);
    const response = key.create(challenge, change) as never;
    return { response, result: await accounts.addPasskey(session, { name: 'laptop', response }, BROWSER) };
  };
  const falseAnswers: readonly PasskeyFalsification[] = [
    { origin: 'https://evil.test' },
    { origin: 'http://localhost:8001' },
    { rp_id: 'evil.test' },
    { challenge: 'AAAA' },
    { is_unverified: true },
  ];
  for (const change of falseAnswers)
    assert.equal((await register(change)).result.outcome, 'refused', JSON.stringify(change));
  const added = await register({});
  assert.equal(added.result.outcome, 'done');
  const again = await accounts.addPasskey(session, { name: 'x', response: added.response }, BROWSER);
  assert.equal(again.outcome, 'refused', 'an answer counts once');
  assert.equal((await accounts.listPasskeys('ann')).length, 1);

  const use = async (change: PasskeyFalsification, ticket: string | null = null) => {
    const begun = await accounts.startPasskeyUse({ ticket }, BROWSER);
    const response = key.get(begun!.challenge, change) as never;
    return { response, result: await accounts.signInWithPasskey(response, BROWSER) };
  };
  for (const change of falseAnswers)
    assert.equal((await use(change)).result.outcome, 'refused', JSON.stringify(change));
  const signedIn = await use({});
  assert.partialDeepStrictEqual(signedIn.result, { outcome: 'signed_in', user_id: 'ann' });
  const replayed = await accounts.signInWithPasskey(signedIn.response, BROWSER);
  assert.equal(replayed.outcome, 'refused', 'an answer counts once');

  const afterPassword = await accounts.signInWithPassword(
    { user_id: 'ann', password: TEST_PASSWORD },
    TEST_ORIGIN,
  );
  assert.partialDeepStrictEqual(afterPassword, { outcome: 'second_factor', factors: ['passkey'] });
  const ticket = afterPassword.outcome === 'second_factor' ? afterPassword.ticket : '';
  assert.equal((await use({}, ticket)).result.outcome, 'signed_in');

  const other = await open('bob');
  const begun = await accounts.startPasskeyUse({ ticket: null, user_id: 'bob' }, BROWSER);
  const stolen = key.get(begun!.challenge) as never;
  assert.equal((await accounts.provePasskey(other, stolen, BROWSER)).outcome, 'refused');
  assert.equal(
    await accounts.removePasskey('bob', (await accounts.listPasskeys('ann'))[0]!.passkey_id),
    false,
  );
  assert.equal(
    await accounts.removePasskey('ann', (await accounts.listPasskeys('ann'))[0]!.passkey_id),
    true,
  );
  assert.equal((await use({})).result.outcome, 'refused', 'a removed passkey');
  const phases = events.map(({ metadata }) => metadata.phase);
  for (const phase of ['passkey_add', 'passkey_remove', 'sign_in_failed', 'second_factor_failed'])
    assert.ok(phases.includes(phase), phase);
  assert.equal(falseAnswers.length, 5);
});
