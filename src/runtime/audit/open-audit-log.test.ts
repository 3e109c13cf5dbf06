import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLog } from '../../platform/log.ts';
import { openIndex, openIndexer } from './index.ts';
import { openAuditLog } from './open-audit-log.ts';
import { makeAuditLog, START_MS, sampleEvent } from './testing/audit-log.ts';

test('queries that run together sync the index once', async (t) => {
  const trail = await makeAuditLog(t);
  const indexPath = join(trail.state, 'index.db');
  const writing = await openIndex({ path: indexPath });
  const indexer = openIndexer({ index: writing, dir: trail.dir });
  const journal = await trail.open();
  let syncs = 0;
  const syncIndex = async (): Promise<void> => {
    syncs += 1;
    await indexer.sync();
  };
  const { offers, close } = openAuditLog({
    journal,
    index_address: () => ({ path: indexPath }),
    journal_dir: trail.dir,
    coordinator: { syncIndex },
    log: openLog({ level: 'silent', name: 'test' }),
    now_ms: () => START_MS,
  });
  t.after(async () => {
    await close();
    writing.close();
  });
  await journal.append(sampleEvent(1));
  const period = {
    since_ms: START_MS - 1_000,
    until_ms: START_MS + 1_000_000,
    tenants: '*',
    agents: '*',
  } as const;
  const [{ events }, rules, agents] = await Promise.all([
    offers.queryAudit({}),
    offers.countEvents({ ...period, by: 'rule', bucket_ms: null }),
    offers.countEvents({ ...period, by: 'agent', bucket_ms: null }),
  ]);
  assert.deepEqual([events.length, rules.length, agents.length, syncs], [1, 1, 1, 1]);
  await journal.append(sampleEvent(2));
  assert.equal((await offers.queryAudit({})).events.length, 2);
  assert.equal(syncs, 2);
});
