/** Pins, quarantines and approvals, on both databases. */
import assert from 'node:assert/strict';
import { withStores } from '../../platform/store/testing/stores.ts';
import { compareWithPins, decidePin, listPins, type PinScope } from './pins.ts';

const SCOPE: PinScope = { tenant_id: 'default', server: 'files', user_id: '' };
const NOW = 1_800_000_000_000;

const seen = (name: string, description = 'Reads.', problem: string | null = null) => ({
  definition: { name, description, inputSchema: { type: 'object' } },
  problem,
});
const ALL = { tenant_ids: '*', server: null, tool: null } as const;

const decision = (sha256: string) => ({ approves: true, sha256, by: 'operator', now_ms: NOW });

withStores('pins of MCP tools', (law) => {
  law('what is clean is pinned on first sight, and stays as it was', async ({ store: { db } }) => {
    for (const isFirst of [true, false]) {
      const [sighting] = await compareWithPins(db, SCOPE, [seen('read')], NOW + (isFirst ? 0 : 1));
      assert.deepEqual([sighting?.status, sighting?.is_new_quarantine], ['pinned', false]);
    }
    const [row] = await listPins(db, ALL);
    assert.deepEqual([row?.tool, row?.approved_by, Number(row?.changed_ms)], ['read', null, NOW]);
  });

  law('a change is news once, and gone when the server takes it back', async ({ store: { db } }) => {
    await compareWithPins(db, SCOPE, [seen('read')], NOW);
    const news: boolean[] = [];
    for (let time = 0; time < 2; time++) {
      const [sighting] = await compareWithPins(db, SCOPE, [seen('read', 'Writes.')], NOW);
      assert.equal(sighting?.status, 'quarantined');
      news.push(sighting.is_new_quarantine);
    }
    assert.deepEqual(news, [true, false]);
    const [back] = await compareWithPins(db, SCOPE, [seen('read')], NOW);
    assert.equal(back?.status, 'pinned');
    assert.equal((await listPins(db, ALL))[0]?.quarantined_sha256, null);
  });

  law(
    'only what was seen is approved, and with it what detectors say against it',
    async ({ store: { db } }) => {
      const bad = seen('read', 'Reads.', 'Its definition holds what no definition should.');
      const [held] = await compareWithPins(db, SCOPE, [bad], NOW);
      assert.equal(held?.status, 'quarantined');
      const other = `sha256:${'0'.repeat(64)}`;
      assert.equal(await decidePin(db, SCOPE, 'read', decision(other)), null);
      assert.equal(await decidePin(db, { ...SCOPE, user_id: 'ann' }, 'read', decision(held.sha256)), null);
      const row = await decidePin(db, SCOPE, 'read', decision(held.sha256));
      assert.deepEqual(
        [row?.pinned_sha256, row?.quarantined_sha256, row?.approved_by],
        [held.sha256, null, 'operator'],
      );
      assert.equal((await compareWithPins(db, SCOPE, [bad], NOW))[0]?.status, 'pinned');
      assert.equal(await decidePin(db, SCOPE, 'read', decision(held.sha256)), null);
    },
  );

  law('tools of another name, user or server are different pins', async ({ store: { db } }) => {
    await compareWithPins(db, SCOPE, [seen('read')], NOW);
    const [renamed] = await compareWithPins(db, SCOPE, [seen('weather')], NOW);
    assert.match(renamed?.reason ?? '', /`read` under another name/);
    const [beside] = await compareWithPins(db, { ...SCOPE, server: 'other' }, [seen('weather')], NOW);
    const [theirs] = await compareWithPins(
      db,
      { ...SCOPE, user_id: 'ann' },
      [seen('read', 'Reads hers.')],
      NOW,
    );
    assert.deepEqual([beside?.status, theirs?.status], ['pinned', 'pinned']);
  });

  law('names that deceive, and what hides in a definition, are held back', async ({ store: { db } }) => {
    const list = [
      seen('re\u0430d'),
      seen(''),
      seen('Read'),
      seen('READ'),
      seen('long', 'x'.repeat(70_000)),
      seen('escape', 'Reads.\u001b[8m'),
      seen('fine'),
    ];
    const sightings = await compareWithPins(db, SCOPE, list, NOW);
    assert.deepEqual(
      sightings.filter(({ status }) => status === 'pinned').map(({ tool }) => tool),
      ['fine'],
    );
    assert.equal(sightings.length, list.length);
  });

  law('a server cannot fill the store with names', async ({ store: { db } }) => {
    const names = Array.from({ length: 2_000 }, (_nothing, at) => ({
      ...SCOPE,
      tool: `t${at}`,
      pinned_sha256: null,
      pinned_definition: null,
      quarantined_sha256: null,
      quarantined_definition: null,
      quarantined_reason: null,
      approved_by: null,
      first_seen_ms: NOW,
      changed_ms: NOW,
    }));
    for (let at = 0; at < names.length; at += 500)
      await db
        .insertInto('mcp_pins')
        .values(names.slice(at, at + 500))
        .execute();
    const [more] = await compareWithPins(db, SCOPE, [seen('one-more')], NOW);
    assert.match(more?.reason ?? '', /more tools than are remembered/);
  });
});
