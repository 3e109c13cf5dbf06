/** `customshouse logs --follow` next to services that start, stop and are killed. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as sendHttp } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { MAIN_FILE } from '../src/entry/cli/testing/main-file.ts';
import { runProgram } from './support/checkout.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

async function decide({ url }: TestService, agentId: string, tenantId = 'default'): Promise<string> {
  const answer = await fetch(`${url}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ text: 'hello', agent_id: agentId, context: { tenant_id: tenantId } }),
  });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { event_id: string }).event_id;
}

async function runHere(cwd: string, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram([process.execPath, MAIN_FILE, ...words], { cwd });
  assert.equal(code, 0, stderr);
  return stdout;
}

interface FollowProcess {
  readonly child: ChildProcess;
  readonly seen: string[];
  readonly end: () => Promise<number | null>;
}

function follow(cwd: string, ...words: readonly string[]): FollowProcess {
  const child = spawn(process.execPath, [MAIN_FILE, 'logs', '--follow', '--json', ...words], { cwd });
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

/** Returns the number of open connections of operators to the process that owns a state folder. */
function connections(stateDir: string): number {
  const CONNECTED = '03';
  return readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .map((line) => line.split(/\s+/))
    .filter((words) => words[5] === CONNECTED && words[7]?.endsWith(`${stateDir}/operator/operator.sock`))
    .length;
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

describe('the operator socket, for those who follow', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
  });
  after(() => service.stop());

  /** Follows the audit log with a client that does not use the program. Resolves when the service answers. */
  async function open(input: unknown): Promise<{ response: IncomingMessage; text: string }> {
    const token = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
    const request = sendHttp({
      ...{ socketPath: join(service.state_dir, 'operator/operator.sock'), method: 'POST', path: '/follow' },
      ...{ headers: { authorization: `Bearer ${token}` }, agent: false },
    });
    request.on('error', () => {}).end(JSON.stringify(input));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const following = { response, text: '' };
    response.setEncoding('utf8').on('error', () => {});
    response.on('data', (piece: string) => {
      following.text += piece;
    });
    return following;
  }

  test('filters of the command line hold', async () => {
    const acme = follow(service.dir, '--tenant', 'acme', '--tail', '1');
    const all = await open({});
    await until(() => connections(service.state_dir) === 2, 'both follow');
    const wanted = await decide(service, 'a', 'acme');
    const other = await decide(service, 'a', 'globex');
    await until(() => acme.seen.length === 1 && all.text.includes(other), 'each sees its own');
    assert.deepEqual(acme.seen, [wanted]);
    assert.ok(all.text.includes(wanted));
    all.response.destroy();
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
    for (const [input, code] of rows) {
      const refused = await open(input);
      if (!refused.response.readableEnded) await once(refused.response, 'end');
      assert.equal(refused.response.statusCode, code === 'not_found' ? 404 : 400);
      assert.match(refused.text, new RegExp(`"code":"${code}"`), JSON.stringify(input).slice(0, 80));
    }
  });

  test('thousands of connections, and all who may follow, leave the service answering', async () => {
    const followers = await Promise.all(Array.from({ length: 20 }, () => open({})));
    const statuses = followers.map(({ response }) => response.statusCode);
    assert.equal(statuses.filter((status) => status === 200).length, 16);
    assert.equal(statuses.filter((status) => status === 503).length, 4);
    // A reader that is refused because of too many connections reads the journal.
    const reader = follow(service.dir, '--agent', 'crowded');
    await until(async () => {
      await decide(service, 'crowded');
      return reader.seen.length > 0;
    }, 'it is followed all the same');
    await reader.end();
    const path = join(service.state_dir, 'operator/operator.sock');
    const crowd: Socket[] = [];
    for (let count = 0; count < 10_000; count++) {
      const socket = connect(path).on('error', () => {});
      socket.once('close', () => socket.destroy());
      crowd.push(socket);
      if (count % 500 === 499) await new Promise((done) => setTimeout(done, 10));
    }
    await decide(service, 'beside a crowd');
    for (const each of [...crowd, ...followers.map(({ response }) => response)]) each.destroy();
    await until(() => connections(service.state_dir) === 0, 'all have gone');
    assert.match(await runHere(service.dir, 'logs', '--tail', '1', '--json'), /beside a crowd/);
  });
});
