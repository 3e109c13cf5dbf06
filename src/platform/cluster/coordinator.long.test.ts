/** The laws of leases and of jobs that run once, on both databases. */
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Store } from '../store/index.ts';
import { withStores } from '../store/testing/stores.ts';
import { LEASE_MS, openStoreCoordinator } from './coordinator.ts';

const REPORT = { policy_revision: 3, policy_hash: 'sha256:aa', fence_count: 0 };

const open = (store: Store, nodeId: string) =>
  openStoreCoordinator(store, {
    ...{ node_id: nodeId, version: '0.1.0', schema_step: 1, address: null, key_digests: '{}' },
  });

/** Ends the lease of a node by the database's clock, as the passage of time would. */
const expire = (store: Store, nodeId: string) =>
  store.db
    .updateTable('cluster_nodes')
    .set({ lease_until_ms: sql<number>`lease_until_ms - ${sql.lit(2 * LEASE_MS)}` })
    .where('node_id', '=', nodeId)
    .execute();

withStores('leases of nodes', (law) => {
  law('a name has one live process, also when eight start at once', async ({ store, another }) => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => another()));
    const joined = await Promise.all(stores.map((each) => open(each, 'a').join()));
    assert.equal(joined.filter(Boolean).length, 1);
    assert.equal(await open(store, 'a').join(), false);
    assert.equal(await open(store, 'b').join(), true);
  });

  law('a name is free when its lease has ended, and its former process cannot renew', async ({ store }) => {
    const [first, second] = [open(store, 'a'), open(store, 'a')];
    assert.equal(await first.join(), true);
    assert.equal(await first.renew(REPORT), true);
    await expire(store, 'a');
    assert.equal(await second.join(), true);
    assert.equal(await first.renew(REPORT), false);
    assert.equal(await second.renew(REPORT), true);
    await first.leave();
    assert.equal((await second.listNodes()).length, 1, 'a former process does not remove its successor');
    await second.leave();
    assert.equal(await first.join(), true);
  });

  law('a lease lasts a second at most, and a renewed one is live again', async ({ store }) => {
    const node = open(store, 'a');
    await node.join();
    await node.renew(REPORT);
    const [live] = await node.listNodes();
    assert.ok(live!.is_live);
    assert.ok(live!.lease_until_ms - live!.renewed_ms <= LEASE_MS + 5, 'both times are of one statement');
    assert.deepEqual([live!.policy_revision, live!.policy_hash], [3, 'sha256:aa']);
    await expire(store, 'a');
    assert.equal((await node.listNodes())[0]!.is_live, false);
    assert.equal(await node.renew(REPORT), true);
    assert.equal((await node.listNodes())[0]!.is_live, true);
  });

  law('one node does a job, and another one only after its lease has ended', async ({ store, another }) => {
    const nodes = await Promise.all(['a', 'b', 'c', 'd'].map(async (name) => open(await another(), name)));
    await Promise.all(nodes.map((node) => node.join()));
    const taken = await Promise.all(nodes.map((node) => node.takeJob('forget')));
    assert.equal(taken.filter(Boolean).length, 1);
    const holder = taken.indexOf(true);
    for (const [at, node] of nodes.entries()) assert.equal(await node.takeJob('forget'), at === holder);
    await expire(store, ['a', 'b', 'c', 'd'][holder]!);
    assert.equal(await nodes[holder]!.takeJob('forget'), false, 'a node without a lease takes nothing');
    const next = (holder + 1) % 4;
    assert.equal(await nodes[next]!.takeJob('forget'), true);
    await nodes[holder]!.renew(REPORT);
    assert.equal(await nodes[holder]!.takeJob('forget'), false);
    await nodes[next]!.leave();
    assert.equal(await nodes[holder]!.takeJob('forget'), true);
  });

  law('a node that has not joined takes no job', async ({ store }) => {
    assert.equal(await open(store, 'a').takeJob('forget'), false);
  });
});
