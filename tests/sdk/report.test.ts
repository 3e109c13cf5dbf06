/** A local guard that reports its decisions to a real service: none is lost, and none counts twice. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalGuard, type LocalGuard, type ReportOptions } from '../../src/sdk/index.ts';
import { freePort, startTestService, type TestService } from '../support/service.ts';

/** Put together here, so that code hosts take the push. */
const SECRET = `sk-${'ABCDEF1234567890'}`;
const KEY = 'svc_test_key_0123456789abcdef0123456789abcdef';
const BOT_KEY = 'svc_test_key_fedcba9876543210fedcba9876543210';
const PROGRAM = join(import.meta.dirname, 'report-program.ts');
const folder = mkdtempSync(join(tmpdir(), 'sdk-report-'));
const apiKeys = [
  { id: 'all', sha256: hash('sha256', KEY), permissions: ['audit:import', 'audit:read'] },
  { id: 'bot', sha256: hash('sha256', BOT_KEY), agents: ['bot'], tenants: ['acme'] },
];
let service: TestService;
let folders = 0;
before(async () => {
  const config = { auth: { api_keys: apiKeys }, server: { port: await freePort() } };
  service = await startTestService({ config });
});
after(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const newFolder = () => join(folder, `spool-${folders++}`);
const listFiles = (dir: string) => readdirSync(dir).sort();
const openGuard = (report: ReportOptions, options: object = {}): LocalGuard =>
  createLocalGuard({ report: { key: KEY, flush_timeout_ms: 20_000, ...report }, ...options });

interface RecordedEvent {
  readonly event_id: string;
  readonly agent_id: string;
  readonly tenant_id: string;
  readonly caller_id: string;
  readonly decision: string;
  readonly claimed_user?: string;
  readonly chain?: readonly string[];
  readonly trace_id?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

async function findEvents(sessionId: string): Promise<readonly RecordedEvent[]> {
  const response = await fetch(`${service.url}/v1/audit/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-key': KEY },
    body: JSON.stringify({ session_id: sessionId, limit: 5_000 }),
  });
  return ((await response.json()) as { events: RecordedEvent[] }).events;
}

/** Counts the lines of the journal with an event, because the index hides one that was written twice. */
function countJournalLines(sessionId: string): number {
  const dir = join(service.state_dir, 'journal');
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.jsonl'),
  );
  const lines = files.flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n'));
  return lines.filter((line) => line.includes(`"session_id":"${sessionId}"`)).length;
}

test('decisions reach the audit log of a service, as those of a program', async () => {
  const spoolDir = newFolder();
  const guard = openGuard(
    { url: service.url, spool_dir: spoolDir },
    { session_id: 'plain', agent_id: 'helper' },
  );
  const verdicts = [
    await guard.input(`Use key ${SECRET}`),
    await guard.output('Mail jane.doe@corp-mail.io now.'),
    await guard.tool('look_up', { city: 'Rome' }),
  ];
  assert.equal(statSync(spoolDir).mode & 0o777, 0o700);
  await guard.close();
  const events = await findEvents('plain');
  assert.deepEqual(
    events.map(({ event_id, decision }) => [event_id, decision]).sort(),
    verdicts.map(({ event_id, decision }) => [event_id, decision]).sort(),
  );
  for (const { agent_id, caller_id, metadata } of events)
    assert.deepEqual([agent_id, caller_id, metadata.reported_by], ['helper', 'key:all', 'sdk']);
  assert.ok(!JSON.stringify(events).includes('ABCDEF'));
  assert.deepEqual(listFiles(spoolDir), []);
  assert.deepEqual(guard.reportStatus(), {
    waiting: 0,
    recorded: 3,
    refused: 0,
    dropped: 0,
    last_error: null,
  });
});

test('a reported decision has the person and the chain of its call', async () => {
  const guard = openGuard(
    { url: service.url, spool_dir: newFolder() },
    { session_id: 'principal', agent_id: 'helper' },
  );
  const about = { user_id: 'ada', chain: ['lead', 'helper'], trace_id: 'ab'.repeat(16) };
  const { event_id } = await guard.tool('look_up', { city: 'Rome' }, about);
  const other = await guard.tool('look_up', {}, { ...about, agent_id: 'lead', session_id: 'other' });
  assert.equal(other.decision, 'block', 'the caller is the last of the chain');
  await guard.close();
  assert.equal(guard.reportStatus()?.refused, 0);
  const [event] = await findEvents('principal');
  const { agent_id, claimed_user, chain, trace_id } = event!;
  assert.deepEqual(
    [event?.event_id, agent_id, claimed_user, chain, trace_id],
    [event_id, 'helper', 'ada', about.chain, about.trace_id],
  );
});

/** A service behind a server that breaks the connection of the first requests, before or after they were answered. */
async function openUnreliable(
  breaks: readonly ('before' | 'after')[],
): Promise<{ url: string; server: Server }> {
  const left = [...breaks];
  const server = createServer((given, answer) => {
    const now = left.shift();
    if (now === 'before') {
      given.socket.destroy();
      return;
    }
    const { method, headers } = given;
    const next = forward(`${service.url}${given.url}`, { method: method!, headers }, (reply) => {
      if (now === 'after') {
        reply.resume().on('end', () => given.socket.destroy());
        return;
      }
      answer.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(answer);
    });
    given.pipe(next);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

test('a batch whose answer is lost is sent again, and counts once', async () => {
  const { url, server } = await openUnreliable(['before', 'after', 'after']);
  const guard = openGuard({ url, spool_dir: newFolder() }, { session_id: 'lossy' });
  for (let number = 0; number < 300; number++) await guard.tool('look_up', { number });
  assert.equal(await guard.flush(), true);
  await guard.close();
  server.close();
  assert.equal((await findEvents('lossy')).length, 300);
  assert.equal(countJournalLines('lossy'), 300);
  assert.equal(guard.reportStatus()?.recorded, 300);
});

test('a service that is killed in mid-batch has each decision once when it is back', async () => {
  const spoolDir = newFolder();
  const guard = openGuard(
    { url: service.url, spool_dir: spoolDir, interval_ms: 1 },
    { session_id: 'killed' },
  );
  for (let number = 0; number < 400; number++) await guard.tool('look_up', { number });
  const flushed = guard.flush();
  await sleep(5);
  await service.kill('SIGKILL');
  assert.equal((await guard.tool('look_up', { number: 400 })).decision, 'allow');
  service = await startTestService({
    dir: service.dir,
    config: { auth: { api_keys: apiKeys }, server: { port: service.port } },
  });
  await flushed;
  assert.equal(await guard.flush(), true);
  await guard.close();
  assert.equal((await findEvents('killed')).length, 401);
  assert.deepEqual(listFiles(spoolDir), []);
});

test('a decision in the name of another agent is refused alone, and kept', async () => {
  const spoolDir = newFolder();
  const guard = openGuard(
    { url: service.url, spool_dir: spoolDir, key: BOT_KEY },
    { session_id: 'names', agent_id: 'bot' },
  );
  await guard.tool('look_up', {});
  const lied = await guard.withSubject({ agent_id: 'finance' }).tool('look_up', {});
  await guard.tool('look_up', {});
  assert.equal(await guard.flush(), true);
  await guard.close();
  const events = await findEvents('names');
  assert.deepEqual(
    events.map(({ agent_id, tenant_id, caller_id }) => [agent_id, tenant_id, caller_id]),
    [
      ['bot', 'acme', 'key:bot'],
      ['bot', 'acme', 'key:bot'],
    ],
  );
  assert.deepEqual([guard.reportStatus()?.recorded, guard.reportStatus()?.refused], [2, 1]);
  assert.ok(readFileSync(join(spoolDir, 'refused.jsonl'), 'utf8').includes(lied.event_id!));
});

test('a decision that the service cannot take does not hold up the others', async () => {
  const guard = openGuard({ url: service.url, spool_dir: newFolder() }, { session_id: 'odd' });
  for (let number = 0; number < 20; number++)
    await guard.tool(number === 7 ? `t ${SECRET}` : 'look_up', { number });
  assert.equal(await guard.flush(), true);
  await guard.close();
  assert.equal((await findEvents('odd')).length, 19);
  assert.equal(guard.reportStatus()?.refused, 1);
});

test('a full spool blocks, or drops where that was chosen', async () => {
  const gone = { url: 'http://127.0.0.1:9', spool_bytes_max: 3_000, flush_timeout_ms: 1 };
  const strict = openGuard({ ...gone, spool_dir: newFolder() });
  const loose = openGuard({ ...gone, spool_dir: newFolder(), on_spool_full: 'drop' });
  const decide = async (guard: LocalGuard) =>
    Promise.all(Array.from({ length: 10 }, () => guard.tool('look_up', {})));
  const blocked = (await decide(strict)).filter(({ decision }) => decision === 'block');
  assert.ok(blocked.length > 2 && blocked.length < 10, `${blocked.length}`);
  assert.match(blocked[0]!.reason, /The spool has 3000 bytes/);
  assert.deepEqual([blocked[0]!.rule, blocked[0]!.fault], ['fault.audit', true]);
  assert.ok((await decide(loose)).every(({ decision }) => decision === 'allow'));
  assert.equal(loose.reportStatus()?.dropped, blocked.length);
  await Promise.all([strict.close(), loose.close()]);
});

test('a spool folder that others may write is refused', () => {
  assert.throws(() => openGuard({ url: service.url, spool_dir: tmpdir() }), /spool folder/);
  assert.throws(
    () => openGuard({ url: service.url, spool_dir: join(PROGRAM, 'below') }),
    /cannot be created/,
  );
  assert.throws(() => openGuard({ url: 'nonsense', spool_dir: newFolder() }), /`url`/);
});

/** Runs the program and returns the events that it was given. */
async function runReporting(report: ReportOptions, ending: string, checks = 5): Promise<readonly string[]> {
  const env = { ...process.env, REPORT: JSON.stringify(report), CHECKS: `${checks}`, ENDING: ending };
  const child = spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(printed) as readonly string[];
}

test('the end of a program sends what waits, however it ends', async () => {
  for (const ending of ['return', 'close']) {
    const spoolDir = newFolder();
    const report = { url: service.url, key: KEY, spool_dir: spoolDir, interval_ms: 60_000 };
    const ids = await runReporting(report, ending);
    const found = new Set((await findEvents('s-1')).map(({ event_id }) => event_id));
    assert.ok(ids.length === 5 && ids.every((id) => found.has(id)), ending);
    assert.deepEqual(listFiles(spoolDir), [], ending);
  }
});

test('a wrong key keeps the decisions, and the next start with the right one sends them', async () => {
  const spoolDir = newFolder();
  const report = { url: service.url, spool_dir: spoolDir };
  const ids = await runReporting({ ...report, key: `${KEY}0`, flush_timeout_ms: 300 }, 'close');
  assert.equal(listFiles(spoolDir).length, 1);
  await runReporting({ ...report, key: KEY }, 'close', 1);
  const found = new Set((await findEvents('s-1')).map(({ event_id }) => event_id));
  assert.ok(ids.length === 5 && ids.every((id) => found.has(id)));
  assert.deepEqual(listFiles(spoolDir), []);
});

test('a program that was killed between a decision and its report loses none', async () => {
  for (const ending of ['kill', 'exit']) {
    const spoolDir = newFolder();
    const report = { url: service.url, key: KEY, spool_dir: spoolDir, interval_ms: 60_000 };
    const ids = await runReporting(report, ending);
    const beforeNext = new Set((await findEvents('s-1')).map(({ event_id }) => event_id));
    assert.ok(!ids.some((id) => beforeNext.has(id)), ending);
    assert.equal(listFiles(spoolDir).length, 1, ending);
    await runReporting(report, 'return', 1);
    const found = new Set((await findEvents('s-1')).map(({ event_id }) => event_id));
    assert.ok(ids.length === 5 && ids.every((id) => found.has(id)), ending);
    assert.deepEqual(listFiles(spoolDir), [], ending);
  }
});
