import assert from 'node:assert/strict';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import type { CountField, EventCountQuery } from './count-types.ts';
import { countEventsBy } from './event-counts.ts';
import { recountEvents } from './event-tallies.ts';
import { openIndexer } from './indexer.ts';
import { listPolicyIntervals } from './policy-intervals.ts';
import { listAuditSessions } from './session-list.ts';
import { makeAuditLog, readFiles, START_MS, sampleEvent } from './testing/audit-log.ts';
import { law } from './testing/indexes.ts';
import type { AuditEvent } from './types.ts';

const HOUR_MS = 3_600_000;

/** Event number `at`, 17 minutes after the previous one, so that 300 of them cover more than three days. */
function spreadEvent(at: number): AuditEvent {
  const ms = START_MS + at * 17 * 60_000;
  return sampleEvent(at, {
    timestamp: new Date(ms).toISOString(),
    tenant_id: ['acme', 'globex'][at % 2]!,
    agent_id: `bot-${at % 3}`,
    session_id: at % 5 === 0 ? null : `session-${at % 7}`,
    tool_name: at % 4 === 0 ? 'send_email' : null,
    decision: at % 6 === 0 ? 'block' : 'allow',
    action: at % 6 === 0 ? 'block' : 'allow',
    data_tags: at % 9 === 0 ? ['personal.pii.email', 'secret'] : [],
    metadata: { ...(at % 8 === 0 && { model: 'gpt-5-mini' }), ...(at % 10 === 0 && { rule_ids: ['email'] }) },
  });
}

/** Counts in memory what the index must count. */
function countPlainly(events: readonly AuditEvent[], request: EventCountQuery): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const event of events) {
    const ms = Date.parse(event.timestamp);
    const isInside = request.since_ms === null || (ms >= request.since_ms && ms < request.until_ms);
    const isScoped = request.tenants === '*' || request.tenants.includes(event.tenant_id);
    if (!isInside || !isScoped) continue;
    for (const value of listPlainValues(request.by, event)) {
      const bucket = request.bucket_ms ? Math.floor(ms / request.bucket_ms) * request.bucket_ms : null;
      const key = JSON.stringify([value, bucket, event.decision]);
      sums[key] = (sums[key] ?? 0) + 1;
    }
  }
  return sums;
}

function listPlainValues(by: CountField, event: AuditEvent): readonly string[] {
  if (by === 'agent') return [event.agent_id];
  if (by === 'tenant') return [event.tenant_id];
  if (by === 'tool') return event.tool_name === null ? [] : [event.tool_name];
  if (by === 'tag') return event.data_tags;
  if (by === 'model') return typeof event.metadata.model === 'string' ? [event.metadata.model] : [];
  if (by === 'detector') return event.metadata.rule_ids === undefined ? [] : [`${event.boundary}/email`];
  return [event.boundary];
}

law('counts of any period equal the events in it', async (t, at) => {
  const trail = await makeAuditLog(t);
  const index = await at.open(trail.state);
  const journal = await trail.open();
  const events = Array.from({ length: 300 }, (_, at) => spreadEvent(at));
  const indexer = openIndexer({ index, dir: trail.dir });
  for (const [turn, event] of events.entries()) {
    await journal.append(event);
    if (turn % 100 === 0) await indexer.sync();
  }
  await indexer.sync();
  const periods = [
    [null, 0],
    [START_MS, START_MS + 3 * 24 * HOUR_MS],
    [START_MS + 25 * 60_000, START_MS + 50 * HOUR_MS + 5 * 60_000],
    [START_MS + 10 * 60_000, START_MS + 30 * 60_000],
    [START_MS - 48 * HOUR_MS, START_MS],
  ] as const;
  let ran = 0;
  const compare = async (note: string) => {
    for (const [sinceMs, untilMs] of periods)
      for (const by of ['boundary', 'agent', 'tenant', 'tool', 'tag', 'model', 'detector'] as const)
        for (const tenants of ['*', ['acme'], []] as const)
          for (const bucketMs of sinceMs === null ? [null] : [null, 300_000, 900_000, HOUR_MS, 6 * HOUR_MS]) {
            const request = {
              by,
              since_ms: sinceMs,
              until_ms: untilMs,
              tenants,
              agents: '*',
              bucket_ms: bucketMs,
            } as const;
            const sums: Record<string, number> = {};
            for (const { value, bucket_ms: bucket, decision, count } of await countEventsBy(index, request)) {
              const key = JSON.stringify([value, bucket, decision]);
              sums[key] = (sums[key] ?? 0) + count;
            }
            assert.deepEqual(sums, countPlainly(events, request), `${note} ${JSON.stringify(request)}`);
            ran++;
          }
  };
  await compare('as indexed');
  assert.equal(ran, 441);
  const { addCounts } = index.dialect.openWriter(index);
  await index.db
    .transaction()
    .execute((db) => recountEvents(db, START_MS + 30 * HOUR_MS, addCounts, index.node));
  await compare('after a recount of the end');
  assert.equal(ran, 882);
  const request = { since_ms: 0, tenants: '*', agents: '*', limit: 100, after: null } as const;
  const sessions = await listAuditSessions(index, request);
  const counted = sessions.reduce((sum, { event_count }) => sum + event_count, 0);
  assert.equal(counted, events.filter(({ session_id }) => session_id !== null).length);
});

law('an event that is read twice counts once, and one that is cut off counts no more', async (t, at) => {
  const trail = await makeAuditLog(t);
  const index = await at.open(trail.state);
  const journal = await trail.open();
  for (let turn = 0; turn < 10; turn++) await journal.append(spreadEvent(turn));
  await journal.close();
  await openIndexer({ index, dir: trail.dir }).sync();
  const count = async () => {
    const request = { by: 'boundary', since_ms: null, until_ms: 0, tenants: '*', agents: '*' } as const;
    return (await countEventsBy(index, request)).reduce((sum, row) => sum + row.count, 0);
  };
  assert.equal(await count(), 10);
  const [file] = await readFiles(trail);
  const lines = (await readFile(file!.path, 'utf8')).trimEnd().split('\n');
  const isEvent = (line: string) => line.includes('"kind":"event"');
  const last = lines.findLastIndex(isEvent);
  await writeFile(file!.path, `${lines.slice(0, last).join('\n')}\n`);
  await openIndexer({ index, dir: trail.dir }).sync();
  assert.equal(await count(), 9, 'the end of the file is gone');
  await appendFile(file!.path, `${lines.slice(last).join('\n')}\n`);
  await openIndexer({ index, dir: trail.dir }).sync();
  assert.equal(await count(), 10);
});

law('the policy of a program that reports its decisions is not one of the service', async (t, at) => {
  const trail = await makeAuditLog(t);
  const index = await at.open(trail.state);
  const journal = await trail.open();
  const theirs = `sha256:${'e'.repeat(64)}`;
  const own = sampleEvent(1);
  await journal.append(own);
  await journal.append(sampleEvent(2, { policy_hash: theirs, metadata: { reported_by: 'sdk' } }));
  await openIndexer({ index, dir: trail.dir }).sync();
  const listHashes = async () => {
    const window = { since_ms: START_MS - HOUR_MS, until_ms: START_MS + HOUR_MS };
    return (await listPolicyIntervals(index, window)).map(({ policy_hash }) => policy_hash);
  };
  assert.deepEqual(await listHashes(), [own.policy_hash]);
  const counted = await countEventsBy(index, {
    ...{ by: 'boundary', tenants: '*', agents: '*' },
    ...{ since_ms: null, until_ms: START_MS + HOUR_MS },
  });
  assert.equal(
    counted.reduce((sum, { count }) => sum + count, 0),
    2,
    'the decision itself is counted',
  );
  await journal.append(sampleEvent(3, { policy_hash: theirs }));
  await openIndexer({ index, dir: trail.dir }).sync();
  assert.equal((await listHashes()).length, 2, 'a policy of the service is listed');
});
