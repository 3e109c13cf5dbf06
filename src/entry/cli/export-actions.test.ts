import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { openEventFeed } from '../../runtime/audit/events/feed.ts';
import { readStreamPage } from '../../runtime/audit/events/replay.ts';
import type { StreamBatch } from '../../runtime/audit/events/types.ts';
import { openIndexer } from '../../runtime/audit/indexer.ts';
import { openIndex } from '../../runtime/audit/open-index.ts';
import { makeAuditLog, sampleEvent } from '../../runtime/audit/testing/audit-log.ts';
import { runInProcess } from './testing/run.ts';

const SHOWN = 'Bash {"command":"rm -rf /srv/zebra-quartz"}';

/** Writes an event with a shown action, and returns everything that exports it. */
async function exportAll(t: TestContext, exportActions: boolean): Promise<Record<string, string>> {
  const trail = await makeAuditLog(t);
  const index = await openIndex({ path: join(trail.state, 'index.db') });
  const feed = openEventFeed({ warn: (message) => assert.fail(message) }, exportActions);
  const batches: StreamBatch[] = [];
  feed.join('worker-1', 1, async (batch) => void batches.push(batch));
  const { openArrivalNotifier } = await import('../../runtime/audit/arrivals.ts');
  const arrivals = await openArrivalNotifier(index, feed);
  const journal = await trail.open();
  await journal.append({ ...sampleEvent(1), action_shown: SHOWN, action_marks: [[17, 25]] });
  await journal.close();
  await openIndexer({ index, dir: trail.dir, arrivals }).sync();
  const page = await readStreamPage(index, 0, 1, exportActions);
  await index.close();
  const yaml = `state_dir: ${trail.state}\naudit: {export_actions: ${exportActions}}\n`;
  writeFileSync(join(trail.state, 'service.yaml'), yaml);
  const run = (format: string) => runInProcess(['audit', 'export', '--format', format], { cwd: trail.state });
  return {
    batch: JSON.stringify(batches),
    page: page.events.map(({ json }) => json).join(''),
    jsonl: (await run('jsonl')).stdout,
    csv: (await run('csv')).stdout,
  };
}

test('no export has a shown action by default', async (t) => {
  for (const [name, text] of Object.entries(await exportAll(t, false))) {
    assert.ok(!/zebra-quartz|action_(shown|marks)/.test(text), name);
    if (name !== 'batch') assert.ok(text.includes(sampleEvent(1).event_id), name);
  }
});

test('exports have shown actions with audit.export_actions', async (t) => {
  const { batch, ...exports } = await exportAll(t, true);
  for (const [name, text] of Object.entries(exports)) assert.match(text, /zebra-quartz/, name);
  assert.deepEqual(JSON.parse(batch!), [{ turn: 1, from: 1, to: 1, events: [] }], 'read from the index');
});
