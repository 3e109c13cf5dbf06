/**
 * Compares the audit index in PostgreSQL with the one in a SQLite file: the time to fill it from a journal, and the
 * processor time of a decision on the real service with two workers, until the decision is in the index.
 *
 * Usage: node benchmarks/audit/index-databases.ts [rounds=5] [seconds=3] [events=50000]. Needs PostgreSQL, `wrk` and `taskset`.
 * The processor time of a service is that of all its processes; the server of the database is printed for itself.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { postgres } from '../../src/drivers/stores/postgres.ts';
import { startPostgres } from '../../src/platform/store/testing/postgres-server.ts';
import type { AuditIndex, IndexAddress } from '../../src/runtime/audit/audit-index.ts';
import { createEventId } from '../../src/runtime/audit/event-id.ts';
import { openIndex, openIndexer, openJournal, openSigningKey } from '../../src/runtime/audit/index.ts';
import { startTestService } from '../../tests/support/service.ts';
import { cpuUs, load, median, spread } from '../measure.ts';
import { buildEvent } from './event.ts';

const [rounds = 5, seconds = 3, events = 50_000] = process.argv.slice(2).map(Number);
const scratch = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'bench-shared-'));
const server = await startPostgres();
const KINDS = ['sqlite', 'postgres'] as const;
type Kind = (typeof KINDS)[number];

/** Writes a journal whose events lie in the last minutes. Returns its folder. */
async function writeJournal(): Promise<string> {
  const signingKey = await openSigningKey({ dir: join(scratch, 'keys'), now_ms: Date.now });
  const dir = join(scratch, 'journal');
  const rotation = { max_size_bytes: 104_857_600, max_age_days: 90, compress_rotated: false };
  const journal = await openJournal({
    ...{ dir, writer: 'bench', ...rotation },
    ...{ signing_key: signingKey, now_ms: Date.now },
  });
  const beginMs = Date.now() - events;
  for (let from = 0; from < events; from += 1_000)
    await Promise.all(
      Array.from({ length: Math.min(1_000, events - from) }, (_, step) => {
        const ms = beginMs + from + step;
        const own = { event_id: createEventId(ms), timestamp: new Date(ms).toISOString() };
        return journal.append({ ...buildEvent(from + step), ...own });
      }),
    );
  await journal.close();
  return dir;
}

interface Cost {
  readonly wall_us: number;
  readonly cpu_us: number;
  readonly server_us: number;
}

async function buildAddress(kind: Kind, round: number): Promise<IndexAddress> {
  if (kind === 'sqlite') return { path: join(scratch, `index-${round}.db`) };
  return { url: await server.makeDatabase(), node: 'bench', kept_days: 90 };
}

/** Fills an empty index, and returns the cost of one event. */
async function fill(dir: string, kind: Kind, round: number): Promise<Cost> {
  const index = await openIndex(await buildAddress(kind, round));
  const [began, serverBefore, before] = [performance.now(), readServerCpuUs(), process.cpuUsage()];
  const read = await openIndexer({ index, dir }).sync();
  const { user, system } = process.cpuUsage(before);
  const wallUs = (performance.now() - began) * 1_000;
  const serverUs = readServerCpuUs() - serverBefore;
  if (kind === 'postgres' && round === 0) await printSize(index);
  await index.close();
  return { wall_us: wallUs / read, cpu_us: (user + system) / read, server_us: serverUs / read };
}

async function printSize({ db }: AuditIndex): Promise<void> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(
    db,
  );
  process.stdout.write(`the database has ${(rows[0]!.bytes / 1e6).toFixed(0)} MB with ${events} events\n`);
}

const admin = await postgres.open({ url: server.url });
const postmaster = await sql<{ pid: string }>`
  select split_part(pg_read_file('postmaster.pid'), E'\n', 1) as pid`.execute(admin);
const serverPid = Number(postmaster.rows[0]!.pid);

/** Returns the processor time of the database server: its processes, and those that have ended. */
function readServerCpuUs(): number {
  const TICK_US = 10_000;
  const stat = readFileSync(`/proc/${serverPid}/stat`, 'utf8');
  const ended = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15);
  const children = readFileSync(`/proc/${serverPid}/task/${serverPid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean);
  const living = [serverPid, ...children.map(Number)].map((pid) => {
    try {
      return cpuUs(pid);
    } catch {
      return 0;
    }
  });
  return living.reduce((sum, each) => sum + each, 0) + (Number(ended[0]) + Number(ended[1])) * TICK_US;
}

const CONNECTIONS = 16;
const BODY = JSON.stringify({
  text: 'The quarterly review covers shipping times, open tickets and the plan for the next release. '.repeat(
    11,
  ),
  agent_id: 'bench',
  context: { session_id: 'bench-session' },
});

/** Returns the processor time of one decision, with the index of a kind and the store in PostgreSQL. */
async function decide(kind: Kind): Promise<Cost> {
  const config = {
    storage: { url: await server.makeDatabase() },
    audit: { index: kind },
    log: { level: 'error' },
  };
  const service = await startTestService({ config, workers: 2 });
  try {
    const run = (duration: number) =>
      load({
        ...{ url: `${service.url}/v1/scan/input`, body: BODY, cores: '0,1' },
        ...{ connections: CONNECTIONS, seconds: duration, scratch },
      });
    const sync = () =>
      fetch(`${service.url}/v1/audit/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"limit":1}',
      }).then((answer) => answer.text());
    run(1);
    await sync();
    const pids = [service.pid, ...service.worker_pids()];
    const sum = () => pids.reduce((total, pid) => total + cpuUs(pid), 0);
    const [began, before, serverBefore] = [performance.now(), sum(), readServerCpuUs()];
    const { requests } = run(seconds);
    await sync();
    const cpu = sum() - before;
    const wallUs = (performance.now() - began) * 1_000;
    const serverUs = readServerCpuUs() - serverBefore;
    return { wall_us: wallUs / requests, cpu_us: cpu / requests, server_us: serverUs / requests };
  } finally {
    await service.stop();
  }
}

/** Measures both kinds in turns and prints a row for each, with the ratio of PostgreSQL to SQLite. */
async function compare(what: string, measure: (kind: Kind, round: number) => Promise<Cost>): Promise<void> {
  const costs: Record<Kind, Cost>[] = [];
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? KINDS : KINDS.toReversed();
    const found = new Map<Kind, Cost>();
    for (const kind of order) found.set(kind, await measure(kind, round));
    costs.push({ sqlite: found.get('sqlite')!, postgres: found.get('postgres')! });
  }
  const of = (kind: Kind, key: keyof Cost) => median(costs.map((each) => each[kind][key])).toFixed(0);
  const ratio = (key: keyof Cost) => spread(costs.map((each) => each.postgres[key] / each.sqlite[key]));
  process.stdout.write(
    `| ${what} | ${of('sqlite', 'cpu_us')} | ${of('postgres', 'cpu_us')} | ${ratio('cpu_us')} | ${of('sqlite', 'wall_us')} | ${of('postgres', 'wall_us')} | ${ratio('wall_us')} | ${of('sqlite', 'server_us')}, ${of('postgres', 'server_us')} |\n`,
  );
}

try {
  const dir = await writeJournal();
  process.stdout.write(`load of the machine ${loadavg()[0]!.toFixed(1)}, ${rounds} rounds\n`);
  process.stdout.write(
    '| microseconds for one | processor, SQLite | PostgreSQL | ratio | time, SQLite | PostgreSQL | ratio | server of the database, SQLite, PostgreSQL |\n|---|---|---|---|---|---|---|---|\n',
  );
  await compare('event of a journal', (kind, round) => fill(dir, kind, round));
  await compare('decision', decide);
} finally {
  await admin.destroy();
  await server.remove();
  rmSync(scratch, { recursive: true, force: true });
}
