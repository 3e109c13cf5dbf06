import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeAuditLog, sampleEvent } from '../../runtime/audit/testing/audit-log.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { runInProcess } from './testing/run.ts';

const EVENTS = process.env.NIGHTLY === undefined ? 20_000 : 50_000;
/** Ten events share each time stamp, so that pages end between events with the same time. */
const getTime = (at: number): string =>
  new Date(Date.UTC(2026, 9, 1) + Math.floor(at / 10) * 1_000).toISOString();

test('any number of events is exported, page by page, and an export continues where one stopped', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  const fields = (at: number): Partial<AuditEvent> => ({
    timestamp: getTime(at),
    agent_id: at % 2 === 0 ? 'even' : 'odd, "quoted"',
    session_id: at === 7 ? '=HYPERLINK("x")' : at === 9 ? '\n=1+1' : at === 11 ? ' \uff1d1' : 's',
  });
  const written: AuditEvent[] = [];
  for (let at = 0; at < EVENTS; at++) written.push(sampleEvent(at, fields(at)));
  for (let from = 0; from < EVENTS; from += 1_000)
    await Promise.all(written.slice(from, from + 1_000).map((event) => journal.append(event)));
  await journal.close();
  const cwd = trail.state;
  writeFileSync(join(cwd, 'service.yaml'), `state_dir: ${trail.state}\n`);

  const all = await runInProcess(['audit', 'export'], { cwd });
  assert.equal(all.code, 0, all.stderr);
  const ids = all.stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as AuditEvent).event_id);
  assert.equal(ids.length, EVENTS);
  assert.deepEqual(
    ids,
    written.map(({ event_id }) => event_id),
  );
  assert.match(all.stderr.replaceAll(',', ''), new RegExp(`${EVENTS} events exported`));

  // The cursor of a progress line, with a rebuilt index.
  const cursor = /cursor (\S+)/.exec(all.stderr)?.[1];
  assert.ok(cursor !== undefined, all.stderr);
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(trail.state, `index.db${suffix}`), { force: true });
  const rest = await runInProcess(['audit', 'export', '--cursor', cursor], { cwd });
  const restIds = rest.stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as AuditEvent).event_id);
  assert.deepEqual(restIds, ids.slice(10_000));

  const some = await runInProcess(
    [
      'audit',
      'export',
      '--format',
      'csv',
      '--agent',
      'odd, "quoted"',
      '--since',
      getTime(0),
      '--until',
      getTime(99),
    ],
    { cwd },
  );
  const lines = some.stdout.trimEnd().split('\r\n');
  assert.equal(lines.length, 1 + 50);
  assert.match(lines[0]!, /^event_id,timestamp,boundary,decision/);
  assert.ok(lines[1]!.includes(',"odd, ""quoted""",'));
  assert.ok(some.stdout.includes(`,"'=HYPERLINK(""x"")",`), 'no formula for a spreadsheet');
  assert.ok(some.stdout.includes(`,"'\n=1+1",`) && some.stdout.includes(`,' \uff1d1,`), some.stdout);
  const wrong = await runInProcess(['audit', 'export', '--cursor', 'nonsense'], { cwd });
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /`cursor`/);
});
