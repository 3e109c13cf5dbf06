import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { appendRange, makeAuditLog, START_MS, waitUntil } from '../runtime/audit/testing/audit-log.ts';
import { openIndexFiller } from './indexing.ts';

const EVENTS = 3_000;

/** Lists the files below a folder that this process has open. Only Linux says so; elsewhere the list is empty. */
function listOpenFiles(dir: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  const links = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  return links.filter((path) => path.startsWith(dir)).sort();
}

test('a stop ends the indexing of a long journal between two batches, and the next start does the rest', async (t) => {
  const audit = await makeAuditLog(t);
  const journal = await audit.open();
  await appendRange(journal, 0, EVENTS);
  const logged: string[] = [];
  const open = (closeMsMax?: number) =>
    openIndexFiller({
      index_address: { path: join(audit.state, 'index.db') },
      journal_dir: audit.dir,
      journal,
      max_age_days: 90,
      state_dir: audit.state,
      now_ms: () => START_MS,
      watch: { isActive: () => false, onIndexed: () => {} },
      log: {
        debug: () => {},
        info: () => {},
        warn: (message) => void logged.push(`warn: ${message}`),
        error: (message) => void logged.push(`error: ${message}`),
        flush: async () => {},
      },
      ...(closeMsMax !== undefined && { close_ms_max: closeMsMax }),
    });
  const countIndexed = async (filler: ReturnType<typeof open>): Promise<number> => {
    const { index } = await filler.open();
    const { count } = await index.db
      .selectFrom('audit_events')
      .select((of) => of.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count);
  };

  const warnings: string[] = [];
  const warn = ({ message }: Error) => void warnings.push(message);
  process.on('warning', warn);
  t.after(() => process.off('warning', warn));
  const filesBefore = listOpenFiles(audit.dir);
  const stopped = open(0);
  await stopped.open();
  await stopped.close();
  // A chain that was read in part is closed, a moment later, and not by the garbage collector, which warns.
  await waitUntil(() => listOpenFiles(audit.dir).join() === filesBefore.join());
  assert.deepEqual(warnings, []);
  assert.deepEqual(logged, ['warn: the audit index is filled at the next start']);

  const patient = open();
  const before = await countIndexed(patient);
  assert.ok(before < EVENTS, `${before} were indexed by a stop that may not wait`);
  await patient.sync();
  assert.equal(await countIndexed(patient), EVENTS);
  await patient.close();
  assert.equal(logged.length, 1, logged.join('\n'));
});
