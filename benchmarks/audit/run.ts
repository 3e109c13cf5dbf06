/**
 * Measures the cost to write a decision to the audit log and to index it. The log is compared with a bare
 * loop of `write` and `fdatasync` with the same number of waiting callers; the index is compared with inserts
 * into one table without any index.
 *
 * Usage: node benchmarks/audit/run.ts [rounds=5] [seconds=1]
 */
import { close, fdatasync, mkdtempSync, open, rmSync, write } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import {
  openIndex,
  openIndexer,
  openJournal,
  openSigningKey,
  queryIndex,
} from '../../src/runtime/audit/index.ts';
import type { AuditFilter } from '../../src/runtime/audit/types.ts';
import { median, spread } from '../measure.ts';
import { buildEvent } from './event.ts';

const rounds = Number(process.argv[2] ?? 5);
const seconds = Number(process.argv[3] ?? 1);
const scratch = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'bench-audit-'));
const WAITING = [1, 32, 128, 512];
const nowMs = Date.now;

interface Load {
  readonly per_second: number;
  readonly p50_us: number;
  readonly p99_us: number;
}

/** Keeps `waiting` calls of `append` open for the time of a measurement. */
async function measure(waiting: number, append: (index: number) => Promise<void>): Promise<Load> {
  const tookUs: number[] = [];
  let next = 0;
  const start = performance.now();
  const end = start + seconds * 1_000;
  await Promise.all(
    Array.from({ length: waiting }, async () => {
      for (let before = performance.now(); before < end; ) {
        await append(next++);
        const after = performance.now();
        tookUs.push((after - before) * 1_000);
        before = after;
      }
    }),
  );
  const elapsedS = (performance.now() - start) / 1_000;
  tookUs.sort((a, b) => a - b);
  const at = (share: number): number => tookUs[Math.floor((tookUs.length - 1) * share)]!;
  return { per_second: tookUs.length / elapsedS, p50_us: at(0.5), p99_us: at(0.99) };
}

/**
 * Opens a log with the least cost of durability: all waiting lines in one `write` and one `fdatasync`,
 * without JSON and without a hash chain.
 */
async function openBare(path: string) {
  const fd = await promisify(open)(path, 'w');
  const [writeTo, sync] = [promisify(write), promisify(fdatasync)];
  const line = Buffer.from(`${JSON.stringify(buildEvent(0))}${' '.repeat(200)}\n`);
  let waiting: (() => void)[] = [];
  let writing = false;
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await writeTo(fd, Buffer.concat(group.map(() => line)));
      await sync(fd);
      for (const resolve of group) resolve();
    }
    writing = false;
  };
  const append = (): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (writing) return;
      writing = true;
      setImmediate(flush);
    });
  return { append, close: () => promisify(close)(fd) };
}

async function openReal(name: string) {
  const dir = join(scratch, name);
  const signingKey = await openSigningKey({ dir: join(dir, 'keys'), now_ms: nowMs });
  const rotation = { max_size_bytes: 104_857_600, max_age_days: 90, compress_rotated: false };
  const journal = await openJournal({
    dir: join(dir, 'journal'),
    writer: 'bench',
    ...rotation,
    signing_key: signingKey,
    now_ms: nowMs,
  });
  return {
    dir: join(dir, 'journal'),
    append: (index: number) => journal.append(buildEvent(index)),
    close: journal.close,
  };
}

async function benchJournal(): Promise<void> {
  process.stdout.write(
    '| waiting | events/s | p50 us | p99 us | bare p50 us | events/s, ratio to bare | p50, ratio to bare |\n|---|---|---|---|---|---|---|\n',
  );
  for (const waiting of WAITING) {
    const pairs: { real: Load; bare: Load }[] = [];
    for (let round = 0; round < rounds; round++) {
      const bare = await openBare(join(scratch, `bare-${waiting}-${round}`));
      const bareLoad = await measure(waiting, bare.append);
      await bare.close();
      const real = await openReal(`journal-${waiting}-${round}`);
      pairs.push({ bare: bareLoad, real: await measure(waiting, real.append) });
      await real.close();
    }
    const of = (pick: (pair: (typeof pairs)[number]) => number): number[] => pairs.map(pick);
    const columns = [
      Math.round(median(of(({ real }) => real.per_second))),
      Math.round(median(of(({ real }) => real.p50_us))),
      Math.round(median(of(({ real }) => real.p99_us))),
      Math.round(median(of(({ bare }) => bare.p50_us))),
      spread(of(({ real, bare }) => real.per_second / bare.per_second)),
      spread(of(({ real, bare }) => real.p50_us / bare.p50_us)),
    ];
    process.stdout.write(`| ${waiting} | ${columns.join(' | ')} |\n`);
  }
}

const INDEXED = 100_000;

/**
 * Measures SQLite itself with the same number of bytes: one table, one prepared insert, transactions of 512.
 */
function bareInserts(path: string): number {
  const database = new DatabaseSync(path);
  database.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE events (id TEXT, event TEXT)',
  );
  const insert = database.prepare('INSERT INTO events VALUES (?, ?)');
  const rows = Array.from(
    { length: INDEXED },
    (_, index) => [buildEvent(index).event_id, JSON.stringify(buildEvent(index))] as const,
  );
  const start = performance.now();
  for (let from = 0; from < INDEXED; from += 512) {
    database.exec('BEGIN');
    for (const row of rows.slice(from, from + 512)) insert.run(...row);
    database.exec('COMMIT');
  }
  const perSecond = INDEXED / ((performance.now() - start) / 1_000);
  database.close();
  return perSecond;
}

const QUESTIONS: AuditFilter[] = [
  {},
  { agent_id: 'agent-3' },
  { data_tag: 'personal' },
  { event_id: buildEvent(777).event_id },
  { metadata_key: 'none' },
];

async function benchIndex(): Promise<void> {
  const real = await openReal('indexed');
  for (let from = 0; from < INDEXED; from += 1_000) {
    await Promise.all(Array.from({ length: 1_000 }, (_, offset) => real.append(from + offset)));
  }
  await real.close();
  const rates: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const path = join(scratch, `index-${round}.db`);
    const index = await openIndex({ path });
    const start = performance.now();
    const events = await openIndexer({ index, dir: real.dir }).sync();
    rates.push(events / ((performance.now() - start) / 1_000));
    ratios.push(rates.at(-1)! / bareInserts(join(scratch, `bare-${round}.db`)));
    if (round === 0) await benchQuestions(index);
    await index.close();
  }
  process.stdout.write(
    `index: ${Math.round(median(rates))} events/s, ratio to bare inserts ${spread(ratios)}\n`,
  );
}

async function benchQuestions(index: Awaited<ReturnType<typeof openIndex>>): Promise<void> {
  for (const filter of QUESTIONS) {
    const took: number[] = [];
    for (let time = 0; time < 7; time++) {
      const start = performance.now();
      await queryIndex(index, filter, { now_ms: nowMs });
      took.push(performance.now() - start);
    }
    process.stdout.write(
      `question over ${INDEXED} events, ${JSON.stringify(filter)}: ${median(took).toFixed(2)} ms\n`,
    );
  }
}

try {
  await benchJournal();
  await benchIndex();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
