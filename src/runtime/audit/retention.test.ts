import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { createEventId } from './event-id.ts';
import { listSegments } from './files.ts';
import type { Journal, JournalOptions } from './journal.ts';
import { type LegalHold, matchesHold, readLegalHolds, writeLegalHolds } from './legal-holds.ts';
import { buildRetentionEvent, type RetentionReport } from './retention.ts';
import {
  type AuditLog,
  makeAuditLog,
  readFiles,
  START_MS,
  sampleEvent,
  waitUntil,
} from './testing/audit-log.ts';

const DAY_MS = 86_400_000;
const DAYS = 8;

const HOLD: LegalHold = {
  hold_id: 'hold_0123456789abcdef01234567',
  ...{ tenant_id: null, agent_id: null, session_id: null, since_ms: null, until_ms: null },
};

interface RetentionResult {
  readonly trail: AuditLog;
  readonly journal: Journal;
  readonly reports: RetentionReport[];
  readonly failures: string[];
}

/** Writes one event a day, each in a file of its own, with a maximum age of three days. */
async function retain(
  t: TestContext,
  readHolds: () => readonly LegalHold[] | null,
  fields: Partial<JournalOptions> = {},
): Promise<RetentionResult> {
  const trail = await makeAuditLog(t, { max_size_bytes: 600, max_age_days: 3 });
  const [reports, failures]: [RetentionReport[], string[]] = [[], []];
  const journal = await trail.open({
    retention: {
      readHolds,
      buildEvent: (report) => {
        reports.push(report);
        const nowMs = trail.clock.now_ms;
        return buildRetentionEvent(report, {
          event_id: createEventId(nowMs),
          now_ms: nowMs,
          policy_hash: 'sha256:0',
        });
      },
    },
    on_maintenance_failure: (code) => void failures.push(code),
    ...fields,
  });
  for (let day = 0; day < DAYS; day++) {
    trail.clock.now_ms = START_MS + day * DAY_MS;
    const timestamp = new Date(trail.clock.now_ms).toISOString();
    const own = { tenant_id: day === 1 ? 'acme' : 'globex', session_id: `s${day}`, timestamp };
    await journal.append(sampleEvent(day, own));
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  return { trail, journal, reports, failures };
}

/** Waits until the last recorded deletion is done. */
async function waitUntilDeleted(retained: RetentionResult): Promise<void> {
  const last = retained.reports.at(-1)!.removed.at(-1)!;
  await waitUntil(async () => !(await listNames(retained)).includes(last.name));
}

/** Lists the files of the writer without reading them, because a file can be deleted in between. */
async function listNames({ trail }: RetentionResult): Promise<string[]> {
  return (await listSegments(join(trail.dir, 'worker-1'))).map(({ name }) => name);
}

test('without holds, old files are deleted, and an event in the journal records them', async (t) => {
  const retained = await retain(t, () => []);
  const { trail, journal, reports } = retained;
  await waitUntil(() => reports.length > 0);
  await waitUntilDeleted(retained);
  await journal.close();
  const report = await trail.verify();
  assert.equal(report.broken, null);
  const [writer] = report.writers;
  const last = reports.at(-1)!.removed.at(-1)!;
  assert.deepEqual([writer?.retired?.last_seq, writer?.retired?.last_hash], [last.last_seq, last.last_hash]);
  assert.match(writer!.retired!.event_id!, /^evt_/);
  assert.ok(reports.every(({ held }) => held.length === 0));
  assert.ok(!(await listNames(retained)).includes('000000000000001.jsonl'));
});

test('a hold keeps the file with a matching event and all newer ones, and names it', async (t) => {
  const holds = [{ ...HOLD, tenant_id: 'acme' }];
  const retained = await retain(t, () => holds);
  const { trail, journal, reports } = retained;
  await waitUntil(() => reports.some(({ held }) => held.length > 0));
  await journal.close();
  const files = await readFiles(trail);
  assert.match(files.flatMap(({ lines }) => lines).join('\n'), /"tenant_id":"acme"/);
  const held = files[0]!;
  assert.match(held.lines.join('\n'), /"tenant_id":"acme"/, 'only older files were deleted');
  assert.deepEqual(
    reports.at(-1)!.held.map(({ hold_id }) => hold_id),
    [HOLD.hold_id],
  );
  assert.ok(held.path.endsWith(reports.at(-1)!.held[0]!.name));
  const found = reports.filter(({ removed }) => removed.length === 0);
  assert.equal(found.length, 1, 'an unchanged set of held files is recorded once');
  assert.equal((await trail.verify()).broken, null);
});

test('nothing is deleted while the holds are not known, or if the deletion cannot be recorded', async (t) => {
  const unknown = await retain(t, () => null);
  await unknown.journal.close();
  assert.ok((await listNames(unknown)).includes('000000000000001.jsonl'));
  assert.equal(unknown.reports.length, 0);
  const failing = await retain(t, () => [], {
    retention: {
      readHolds: () => [],
      buildEvent: () => {
        throw Object.assign(new Error('no event'), { code: 'ENOSPC' });
      },
    },
  });
  await waitUntil(() => failing.failures.includes('ENOSPC'));
  await failing.journal.close();
  assert.ok((await listNames(failing)).includes('000000000000001.jsonl'));
});

test('a file with a line that cannot be read is held, and a hold of the past lets later files go', async (t) => {
  const past = await retain(t, () => [{ ...HOLD, until_ms: START_MS - DAY_MS }]);
  await waitUntil(async () => !(await listNames(past)).includes('000000000000001.jsonl'));
  await past.journal.close();

  const { findHoldOn } = await import('./legal-holds.ts');
  const [file] = await readFiles(past.trail);
  const segment = { name: 'x', path: file!.path, first_seq: 1, gzip: false };
  const other = { ...HOLD, tenant_id: 'none' };
  assert.equal(await findHoldOn(segment, [other]), null, 'negative control');
  await writeFile(file!.path, (await readFile(file!.path, 'utf8')).replace('globex', 'globix'));
  assert.deepEqual(await findHoldOn(segment, [other]), other);
});

test('a record of deleted files with another hash than its event is found', async (t) => {
  const retained = await retain(t, () => []);
  const { trail, journal, reports } = retained;
  await waitUntil(() => reports.length > 0);
  await waitUntilDeleted(retained);
  const { last_seq, last_hash } = reports.at(-1)!.removed.at(-1)!;
  const forged = { writer: 'worker-1', max_age_days: 3, held: [] };
  const removed = [{ name: 'x', first_seq: 1, last_seq, last_hash: last_hash.replace(/^./, 'x') }];
  const own = { event_id: createEventId(START_MS), now_ms: START_MS, policy_hash: 'sha256:0' };
  await journal.append(buildRetentionEvent({ ...forged, removed }, own));
  await journal.close();
  assert.match((await trail.verify()).broken!.reason, /records another hash of the last deleted record/);
});

const EVENT = sampleEvent(0, { tenant_id: 'acme', agent_id: 'a', session_id: 's' });
const MATCHES: readonly [Partial<LegalHold>, boolean][] = [
  [{}, true],
  [{ tenant_id: 'acme' }, true],
  [{ tenant_id: 'globex' }, false],
  [{ agent_id: 'a', session_id: 's' }, true],
  [{ agent_id: 'a', session_id: 'other' }, false],
  [{ since_ms: START_MS }, true],
  [{ since_ms: START_MS + 1 }, false],
  [{ until_ms: START_MS }, false],
  [{ until_ms: START_MS + 1 }, true],
];

test('a hold matches all of its members', () => {
  for (const [fields, matches] of MATCHES)
    assert.equal(matchesHold({ ...HOLD, ...fields }, EVENT), matches, JSON.stringify(fields));
  assert.equal(MATCHES.length, 9);
});

test('the copy of the holds is believed for an hour, and not if it is missing or damaged', async (t) => {
  const { state } = await makeAuditLog(t);
  assert.equal(readLegalHolds(state, START_MS), null);
  writeLegalHolds(state, [HOLD], START_MS);
  assert.deepEqual(readLegalHolds(state, START_MS + 3_600_000), [HOLD]);
  assert.equal(readLegalHolds(state, START_MS + 3_600_001), null);
  writeLegalHolds(state, [HOLD], START_MS + 4_000_000);
  assert.deepEqual(readLegalHolds(state, START_MS + 4_000_000), [HOLD], 'written again');
  const path = join(state, 'legal-holds.json');
  for (const text of ['', '{', '[]', '{"format":1,"checked_ms":0,"holds":[{}]}']) {
    await writeFile(path, text);
    assert.equal(readLegalHolds(state, START_MS), null, text);
  }
  await rm(path);
});
