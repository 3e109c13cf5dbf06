/**
 * A real PostgreSQL server for tests, on a free port, with a folder of its own. It ends with its owner. PostgreSQL does
 * not run as root, so root runs it as `postgres` or `nobody`.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface PostgresServer {
  /** The URL of the server's database `postgres`, which serves to create others. */
  readonly url: string;
  /** Creates a database, empty or as a copy of another one that has no connection, and returns its URL. */
  readonly makeDatabase: (copiedUrl?: string) => Promise<string>;
  /** Runs a statement as the administrator, in the database `postgres` or in that of a URL. */
  readonly run: (statement: string, url?: string) => Promise<void>;
  /** Stops the server while clients are connected, as an administrator would. It can be started again. */
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** Removes the file size limit from the server and its processes. */
  readonly makeRoom: () => void;
  /** Stops the server permanently and removes its folder. */
  readonly remove: () => Promise<void>;
}

/** The folders in which Debian installs the programs of each version. */
export const POSTGRES_FOLDERS = '/usr/lib/postgresql/*/bin';

export interface PostgresOptions {
  /** The maximum size of the server's files, which simulates a full disk until `makeRoom`. */
  readonly file_bytes_max?: number;
}

const USER = 'tester';
const START_MS_MAX = 60_000;

/** Returns the reason why no server can run here, or `null`. */
export function explainMissingPostgres(): string | null {
  if (findPrograms() === null)
    return 'PostgreSQL is not installed (scripts/run scripts/components/main.ts postgresql)';
  if (process.getuid?.() === 0 && findOtherUser() === null) return 'PostgreSQL needs a user that is not root';
  return null;
}

/** Starts a server. Call it only if `explainMissingPostgres` returns `null`. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const bin = findPrograms()!;
  const user = process.getuid?.() === 0 ? findOtherUser() : null;
  const dir = mkdtempSync(join(tmpdir(), 'postgres-test-'));
  if (user !== null) chownSync(dir, user.uid, user.gid);
  const data = join(dir, 'data');
  const as = (words: readonly string[]): readonly string[] =>
    user === null
      ? words
      : ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', ...words];
  makeCluster(data, bin, as);
  const port = await findFreePort();
  const settings = [
    'fsync=off',
    'full_page_writes=off',
    'max_connections=200',
    'deadlock_timeout=50ms',
    'listen_addresses=127.0.0.1',
  ];
  const flags = [...settings, 'unix_socket_directories='].flatMap((setting) => ['-c', setting]);
  const limit = options.file_bytes_max === undefined ? [] : ['prlimit', `--fsize=${options.file_bytes_max}:`];
  const command = [...limit, ...as([join(bin, 'postgres'), '-D', data, '-p', `${port}`, ...flags])];
  const url = (database: string): string => `postgres://${USER}@127.0.0.1:${port}/${database}`;
  let running: ChildProcess | null = null;
  let databases = 0;
  const start = async (): Promise<void> => {
    running = spawnGuarded(command, dir);
    await waitUntilReady(url('postgres'), running);
  };
  const stop = async (): Promise<void> => {
    if (running === null) return;
    const gone = once(running, 'close');
    running.stdin?.end('stay\n');
    running = null;
    await gone;
  };
  await start();
  return {
    url: url('postgres'),
    run: (statement, at = url('postgres')) => withClient(at, statement),
    makeDatabase: async (copiedUrl) => {
      databases += 1;
      const name = `test_${process.pid}_${databases}`;
      // A linguistic collation, unlike SQLite's: code that relies on byte order fails here.
      const sorting = "locale_provider icu icu_locale 'en-US' template template0";
      const how = copiedUrl === undefined ? sorting : `template ${new URL(copiedUrl).pathname.slice(1)}`;
      await withClient(url('postgres'), `create database ${name} ${how}`);
      return url(name);
    },
    start,
    stop,
    makeRoom: () => liftLimit(data, as),
    remove: async () => {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const CLUSTERS = fileURLToPath(new URL('../../../../node_modules/.cache/postgres-clusters', import.meta.url));

/**
 * Writes the files of an empty server. They are a copy of those that an earlier test made, if there are any, because
 * `initdb` takes a second of processor time.
 */
function makeCluster(data: string, bin: string, as: (words: readonly string[]) => readonly string[]): void {
  const words = ['-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'];
  const initdb = as([join(bin, 'initdb'), '-D', data, ...words]);
  const key = createHash('sha256')
    .update(JSON.stringify([bin, words, process.getuid?.()]))
    .digest('hex');
  const kept = join(CLUSTERS, key);
  if (existsSync(kept)) {
    runTool(['cp', '-a', kept, data]);
    return;
  }
  runTool(initdb);
  mkdirSync(CLUSTERS, { recursive: true });
  const copy = `${kept}.${process.pid}`;
  runTool(['cp', '-a', data, copy]);
  try {
    renameSync(copy, kept);
  } catch {
    // Another test kept its files first.
    rmSync(copy, { recursive: true });
  }
}

function runTool([program, ...words]: readonly string[]): void {
  const { status, stderr } = spawnSync(program!, words, { cwd: '/', encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
}

/**
 * Runs the server under a shell that stops it when standard input closes. Standard input also closes if the owner is
 * killed; then the shell removes the folder. A line on standard input before that keeps the folder. SIGINT is
 * PostgreSQL's fast shutdown, which does not wait for clients.
 */
function spawnGuarded(command: readonly string[], dir: string): ChildProcess {
  const script =
    'dir=$1; shift; "$@" 2>&1 & server=$!; read -r word; kill -INT $server; wait $server; [ -n "$word" ] || rm -rf "$dir"';
  const words = ['-c', script, 'guard', dir, ...command];
  return spawn('/bin/sh', words, { cwd: '/', stdio: ['pipe', 'ignore', 'ignore'] });
}

function liftLimit(data: string, as: (words: readonly string[]) => readonly string[]): void {
  const [main = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
  const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').split(' ').filter(Boolean);
  for (const pid of [main, ...children]) runTool(as(['prlimit', '--pid', pid, '--fsize=unlimited:']));
}

async function waitUntilReady(url: string, running: ChildProcess): Promise<void> {
  const untilMs = performance.now() + START_MS_MAX;
  for (;;) {
    const answered = await withClient(url, 'select 1').then(
      () => null,
      (error: Error) => error,
    );
    if (answered === null) return;
    if (running.exitCode !== null || performance.now() > untilMs)
      throw new Error(`PostgreSQL did not start: ${answered.message}`);
    await sleep(50);
  }
}

async function withClient(url: string, statement: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Returns the folder of the server's programs, newest version first. */
function findPrograms(): string | null {
  const versions = globSync(POSTGRES_FOLDERS).sort();
  const folders = [...versions.reverse(), ...(process.env.PATH ?? '').split(delimiter).filter(Boolean)];
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => canRun(join(folder, name)))) ?? null;
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function findOtherUser(): { uid: number; gid: number } | null {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout);
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  return null;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
