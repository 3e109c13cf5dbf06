/** Allowlist entries that are added over the API: their effect in all workers, scope, expiry and refusals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ensureFingerprints } from '../src/runtime/policies/fingerprints.ts';
import { listOutputDecisions, openApiClient } from './support/api-client.ts';
import { startTestService } from './support/service.ts';

const LIST = '/v1/dashboard/allowlist';
const MAIL = ['jane.doe', 'corp-mail.io'].join('@');

test('an entry acts on all workers for its tenant until it is removed, and holds no text', async () => {
  const service = await startTestService({ workers: 2 });
  try {
    const call = openApiClient(service);
    const place = {
      state_dir: service.state_dir,
      origin: { file: null, label: '', base_dir: '' },
      detection: {},
    };
    const ruleId = (await call('/v1/scan/input', { body: { text: MAIL }, as: null })).body.violations[0]
      .rule_id;
    const fingerprint = ensureFingerprints(place)(ruleId, MAIL);
    const decide = (tenantId: string) =>
      listOutputDecisions(call, { text: `To ${MAIL}.`, tenant_id: tenantId });
    assert.deepEqual(await decide('acme'), ['modify']);

    const body = { fingerprint, tenant_id: 'acme', reason: 'the shop itself', expires_in: '30d' };
    const added = await call(LIST, { body });
    assert.equal(added.status, 200, JSON.stringify(added.body));
    assert.deepEqual([await decide('acme'), await decide('beta')], [['allow'], ['modify']]);
    assert.equal((await call(LIST, { body })).status, 409);
    const listed = await call(LIST, { as: { user: 'viewer' } });
    assert.deepEqual([listed.body.entries.length, listed.body.entries[0].expired], [1, false]);
    assert.ok(!JSON.stringify(listed.body).includes(MAIL));

    for (const as of [{ user: 'admin' }, null]) {
      assert.equal((await call(LIST, { body, as })).status, 403);
      assert.equal((await call(`${LIST}/remove`, { body: { fingerprint }, as })).status, 403);
    }
    assert.equal((await call(LIST, { body: { ...body, expires_in: '900d' } })).status, 400);
    assert.equal((await call(`${LIST}/remove`, { body: { fingerprint } })).status, 404, 'of all tenants');
    const removed = await call(`${LIST}/remove`, { body: { fingerprint, tenant_id: 'acme' } });
    assert.equal(removed.status, 200, JSON.stringify(removed.body));
    assert.deepEqual(await decide('acme'), ['modify']);

    assert.equal((await call(LIST, { body: { ...body, expires_in: '1s' } })).status, 200);
    await new Promise((done) => setTimeout(done, 1_100));
    assert.deepEqual(await decide('acme'), ['modify'], 'an expired entry has no effect');
  } finally {
    await service.stop();
  }
});
