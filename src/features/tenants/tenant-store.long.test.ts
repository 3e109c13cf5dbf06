/** Tenants and the versions of their policies, on both databases. */
import assert from 'node:assert/strict';
import { withStores } from '../../platform/store/testing/stores.ts';
import { countRevision, readRevisions } from '../../runtime/managed-policy/revisions.ts';
import {
  deleteTenantVersion,
  findTenantVersion,
  hashPolicySet,
  insertTenant,
  insertTenantVersion,
  listTenantRows,
  listTenantVersions,
  readTenantSets,
  type TenantPolicyVersion,
} from './tenant-store.ts';

const NOW = 1_800_000_000_000;

const getVersion = (tenantId: string, version: number): TenantPolicyVersion => {
  const policies = [{ name: `rule-${version}`, boundary: 'input', action: 'flag' }];
  const own = { tenant_id: tenantId, version, policies, sha256: hashPolicySet(policies) };
  return { ...own, note: '', restored_from: null, created_by: 'ann', created_ms: NOW };
};

withStores('policies of tenants', (law) => {
  law('the version with the highest number is current, in each tenant', async ({ store }) => {
    for (const [tenantId, count] of [
      ['acme', 3],
      ['beta', 1],
    ] as const)
      for (let version = 1; version <= count; version++)
        await store.transaction((trx) => insertTenantVersion(trx, getVersion(tenantId, version)));
    assert.deepEqual(
      (await readTenantSets(store.db)).map(({ tenant_id, version }) => [tenant_id, version]),
      [
        ['acme', 3],
        ['beta', 1],
      ],
    );
    assert.deepEqual(await findTenantVersion(store.db, 'acme', 2), getVersion('acme', 2));
    assert.equal(await findTenantVersion(store.db, 'gamma'), null);
    const page = await listTenantVersions(store.db, 'acme', { before: 3, limit: 1 });
    assert.deepEqual(
      page.map(({ version }) => version),
      [2],
    );
  });

  law('of two callers with one number, one adds a version', async ({ store, another }) => {
    const other = await another();
    const add = (one: typeof store) =>
      one.transaction((trx) => insertTenantVersion(trx, getVersion('acme', 1)));
    const added = await Promise.all([add(store), add(other)]);
    assert.deepEqual(added.sort(), [false, true]);
    await other.close();
  });

  law('a version is removed only while it is current', async ({ store }) => {
    for (const version of [1, 2])
      await store.transaction((trx) => insertTenantVersion(trx, getVersion('acme', version)));
    await store.transaction((trx) => deleteTenantVersion(trx, { tenant_id: 'acme', version: 1 }));
    assert.equal((await findTenantVersion(store.db, 'acme', 1))?.version, 1);
    await store.transaction((trx) => deleteTenantVersion(trx, { tenant_id: 'acme', version: 2 }));
    assert.equal((await findTenantVersion(store.db, 'acme'))?.version, 1);
  });

  law('tenants are listed in a scope', async ({ store: { db } }) => {
    const row = (tenantId: string) => ({
      tenant_id: tenantId,
      name: tenantId,
      created_by: 'ann',
      created_ms: NOW,
    });
    for (const id of ['acme', 'beta']) assert.equal(await insertTenant(db, row(id)), true);
    assert.equal(await insertTenant(db, row('acme')), false);
    assert.deepEqual((await listTenantRows(db, '*')).length, 2);
    assert.deepEqual(
      (await listTenantRows(db, ['beta', 'x'])).map(({ tenant_id }) => tenant_id),
      ['beta'],
    );
    assert.deepEqual(await listTenantRows(db, []), []);
  });

  law('changes are counted by subject', async ({ store }) => {
    assert.deepEqual(await readRevisions(store.db), { policy: 0, api_keys: 0, agent_blocks: 0 });
    for (const subject of ['policy', 'policy', 'api_keys'] as const)
      await store.transaction((trx) => countRevision(trx, subject));
    assert.deepEqual(await readRevisions(store.db), { policy: 2, api_keys: 1, agent_blocks: 0 });
  });
});
