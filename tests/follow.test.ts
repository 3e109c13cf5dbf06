/** `service logs --follow` next to services that start, stop and are killed. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { runProgram } from './support/checkout.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

const main = resolve(import.meta.dirname, '..', 'src', 'entry', 'cli', 'main.ts');

async function decide({ url }: TestService, agent_id: string, tenant_id = 'default'): Promise<string> {
  const answer = await fetch(`${url}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ text: 'hello', agent_id, context: { tenant_id } }),
  });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { event_id: string }).event_id;
}

async function runHere(cwd: string, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram([process.execPath, main, ...words], { cwd });
  assert.equal(code, 0, stderr);
  return stdout;
}

interface FollowProcess {
  readonly child: ChildProcess;
  readonly seen: string[];
  readonly end: () => Promise<number | null>;
}

function follow(cwd: string, ...words: readonly string[]): FollowProcess {
  const child = spawn(process.execPath, [main, 'logs', '--follow', '--json', ...words], { cwd });
  const seen: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    seen.push((JSON.parse(line) as { event_id: string }).event_id);
  });
  child.stderr.pipe(process.stderr);
  const ended = once(child, 'close');
  return {
    child,
    seen,
    end: async () => {
      child.kill('SIGINT');
      return (await ended)[0] as number | null;
    },
  };
}

/** Returns the number of open connections to the daemon that owns a state folder. */
function connections(state_dir: string): number {
  const CONNECTED = '03';
  return readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .map((line) => line.split(/\s+/))
    .filter((words) => words[5] === CONNECTED && words[7]?.endsWith(`${state_dir}/service.sock`)).length;
}

test('each event comes once, whatever owns the state folder: no process, a service, a killed one, the next one', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'follow-'));
  writeFileSync(join(dir, 'service.yaml'), '{}\n');
  const decided: string[] = [];
  const scan = async (agent: string): Promise<void> => {
    const { event_id } = JSON.parse(await runHere(dir, 'scan', '--json', '--agent', agent, 'hello')) as {
      event_id: string;
    };
    // A query appends the events of short-lived processes to the chain.
    await runHere(dir, 'logs', '--tail', '1');
    decided.push(event_id);
  };
  await scan('before');
  const reader = follow(dir);
  const all = (what: string): Promise<void> => until(() => reader.seen.length >= decided.length, what);
  await all('what was there comes');
  await scan('nobody');
  await all('without a service');
  let service: TestService | null = null;
  for (const [name, way] of [
    ['first', 'SIGKILL'],
    ['second', 'SIGTERM'],
    ['index gone', 'SIGKILL'],
  ] as const) {
    if (name === 'index gone')
      for (const suffix of ['', '-wal', '-shm'])
        rmSync(join(dir, `.service/index.db${suffix}`), { force: true });
    service = await startTestService({ dir, keep: true });
    for (let count = 0; count < 4; count++) decided.push(await decide(service, `${name}-${count}`));
    await all(`${name}: while it runs`);
    await until(() => connections(service!.state_dir) === 1, `${name}: it is followed over its socket`);
    for (let count = 0; count < 4; count++) decided.push(await decide(service, `${name}-last-${count}`));
    await service.kill(way);
    assert.doesNotMatch(service.logs(), /"level":"(?:error|fatal)"/, `${name}: who follows is no fault`);
    await all(`${name}: what it decided last`);
    await scan(`behind ${name}`);
  }
  await all('the last');
  assert.equal(await reader.end(), 0);
  assert.deepEqual(reader.seen.toSorted(), decided.toSorted());
  assert.equal(decided.length, 29);
  rmSync(dir, { recursive: true, force: true });
});

describe('the socket of a service, for those who follow', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
  });
  after(() => service.stop());

  /** Opens a client of the socket that does not use the program. */
  async function open(): Promise<{
    socket: Socket;
    lines: Record<string, never>[];
    ask: (question: object) => void;
  }> {
    const socket = connect(join(service.state_dir, 'service.sock'));
    const lines: Record<string, never>[] = [];
    createInterface({ input: socket }).on('line', (line) => lines.push(JSON.parse(line)));
    socket.on('error', () => {});
    await once(socket, 'connect');
    return { socket, lines, ask: (question) => socket.write(`${JSON.stringify(question)}\n`) };
  }
  const eventsIn = (lines: readonly Record<string, unknown>[]): { event_id: string; caller_id: string }[] =>
    lines
      .flatMap(({ page }) => (page as { events: { event: never }[] } | undefined)?.events ?? [])
      .map(({ event }) => event);

  test('filters of the command line hold, and an agent behind an MCP server sees its own calls', async () => {
    const acme = follow(service.dir, '--tenant', 'acme', '--tail', '1');
    const own = await open();
    own.ask({ id: 1, method: 'follow', input: {}, user: userInfo().username, as: 'mcp' });
    const others = await open();
    others.ask({ id: 1, method: 'follow', input: { caller_id: 'loopback' }, user: 'x', as: 'mcp' });
    await until(() => own.lines.length > 0 && others.lines.length > 0, 'both are answered');
    await until(() => connections(service.state_dir) === 3, 'all follow');
    const wanted = await decide(service, 'a', 'acme');
    await decide(service, 'a', 'globex');
    const asking = await open();
    const input = { text: 'hello', agent_id: 'a' };
    asking.ask({
      id: 7,
      method: 'call',
      operation: 'scan_input',
      input,
      user: userInfo().username,
      as: 'mcp',
    });
    await until(() => asking.lines.length === 1, 'the call is answered');
    await until(() => acme.seen.length === 1 && eventsIn(own.lines).length === 1, 'each sees one');
    assert.deepEqual(acme.seen, [wanted]);
    assert.deepEqual(
      eventsIn(own.lines).map(({ caller_id }) => caller_id),
      [`mcp:${userInfo().username}`],
    );
    assert.equal((others.lines[0] as { refusal?: { code: string } }).refusal?.code, 'forbidden');
    for (const { socket } of [own, others, asking]) socket.destroy();
    await acme.end();
  });

  test('what is not understood is refused', async () => {
    const rows: readonly (readonly [unknown, string])[] = [
      ['all', 'invalid_request'],
      [{ since: '1h' }, 'invalid_request'],
      [{ tenant: 'acme' }, 'invalid_request'],
      [{ agent_id: 7 }, 'invalid_request'],
      [{ agent_id: 'x'.repeat(2_000) }, 'invalid_request'],
      [{ boundary: 'everywhere' }, 'invalid_request'],
      [{ after: 'yesterday' }, 'invalid_request'],
      [{ after: `evt_${'f'.repeat(10_000_000)}` }, 'invalid_request'],
      [{ after: { $gt: '' } }, 'invalid_request'],
      [{ after: 'evt_ffffffffffffffffffffffff' }, 'not_found'],
    ];
    const { socket, lines, ask } = await open();
    for (const [at, [input]] of rows.entries()) ask({ id: at, method: 'follow', input, user: 'x' });
    await until(() => lines.length === rows.length, 'all are answered');
    const codes = new Map(
      lines.map((line) => [line.id, (line as { refusal?: { code: string } }).refusal?.code]),
    );
    for (const [at, [input, code]] of rows.entries())
      assert.equal(codes.get(at as never), code, JSON.stringify(input).slice(0, 80));
    socket.destroy();
  });

  test('thousands of connections, and all who may follow, leave the service answering', async () => {
    const followers = await Promise.all(Array.from({ length: 20 }, open));
    for (const { ask } of followers) ask({ id: 1, method: 'follow', input: {}, user: 'x' });
    await until(() => followers.every(({ lines }) => lines.length > 0), 'all are answered');
    const refused = followers.filter(({ lines }) => 'refusal' in lines[0]!);
    assert.equal(refused.length, 4);
    assert.ok(
      refused.every(
        ({ lines }) => (lines[0] as { refusal?: { code: string } }).refusal?.code === 'unavailable',
      ),
    );
    // A reader that is refused because of too many connections reads the journal.
    const reader = follow(service.dir, '--agent', 'crowded');
    await until(async () => {
      await decide(service, 'crowded');
      return reader.seen.length > 0;
    }, 'it is followed all the same');
    await reader.end();
    const path = join(service.state_dir, 'service.sock');
    const crowd: Socket[] = [];
    for (let count = 0; count < 10_000; count++) {
      const socket = connect(path).on('error', () => {});
      socket.once('close', () => socket.destroy());
      crowd.push(socket);
      if (count % 500 === 499) await new Promise((done) => setTimeout(done, 10));
    }
    await decide(service, 'beside a crowd');
    for (const socket of [...crowd, ...followers.map((each) => each.socket)]) socket.destroy();
    await until(() => connections(service.state_dir) === 0, 'all have gone');
    assert.match(await runHere(service.dir, 'logs', '--tail', '1', '--json'), /beside a crowd/);
  });
});
