import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, request as sendHttp } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Runtime } from '../operations/runtime.ts';
import { createTestRuntime } from '../operations/testing/runtime.ts';
import { openLog } from '../platform/log.ts';
import { createApiKey, ensureToken, rotateToken } from '../runtime/access/tokens.ts';
import type { Caller } from '../runtime/access/types.ts';
import { OPERATOR_PERMISSIONS, type Permission } from '../runtime/config/permissions.ts';
import { CONTENT_OPERATIONS, openContentSocket } from './content-socket.ts';
import { operations } from './operations.ts';
import { openOperatorSocket } from './operator-socket.ts';
import type { Dispatch, ServiceStatus } from './service.ts';
import { callWithContent, connectService } from './socket-client.ts';
import { BODY_BYTES_MAX } from './socket-exchange.ts';
import type { SocketServer } from './socket-http.ts';
import { openSocketPath } from './socket-path.ts';
import { buildStatePaths } from './state-dir.ts';
import { createTestFolder, type TestFolder } from './testing/service.ts';

const status: ServiceStatus = {
  pid: process.pid,
  url: 'http://127.0.0.1:1',
  version: '1.2.3',
  workers: [],
  policy_hash: 'sha256:a',
  generation: 1,
};

class Refused extends Error {
  readonly code = 'forbidden';
  readonly details = [{ path: 'tenant_id', message: 'is out of scope' }];
}

let folder: TestFolder;
let stateDir: string;
let paths: ReturnType<typeof buildStatePaths>;
let servers: SocketServer[] = [];
/** Everything that reached the handlers. */
let handled: { readonly name: string; readonly input: unknown; readonly caller?: Caller }[] = [];

let open = 0;
let mostOpen = 0;

/** Counts a call while 64 of them could begin. */
async function countOpen(): Promise<void> {
  open += 1;
  mostOpen = Math.max(mostOpen, open);
  for (let turns = 0; mostOpen < 64 && turns < 100_000; turns += 1) await nextTurn();
  open -= 1;
}

const dispatch: Dispatch = {
  judgeHook: async (input, { caller }) => {
    handled.push({ name: 'hook', input, caller });
    return [{ changed: input }];
  },
  parseFollowRequest: async (input, { caller }) => {
    handled.push({ name: 'follow', input, caller });
    throw new Refused('No.');
  },
  callOperation: async (name, input, { caller }) => {
    handled.push({ name, input, caller });
    if (name === 'health') await countOpen();
    if (name === 'refused') throw new Refused('No.');
    if (name === 'broken') throw new Error('a fault that holds a secret');
    return { name, input };
  },
};

before(async () => {
  folder = createTestFolder();
  // Deep enough that the paths of its sockets are too long for the kernel.
  stateDir = join(folder.dir, 'a-folder-with-a-long-name'.repeat(4));
  paths = buildStatePaths(stateDir);
  mkdirSync(paths.operator_folder, { recursive: true, mode: 0o755 });
  for (const path of [paths.content_socket, paths.operator_socket])
    writeFileSync(path, 'what a killed service left');
  ensureToken(stateDir, 'operator');
  const shared = {
    ...{ runtime: { plugins: async () => ({ dialects: [] }) } as unknown as Runtime, dispatch },
    ...{ daemon: null, jwt: null, status: () => status, log: openLog({ level: 'silent', name: 'test' }) },
  };
  const syncIndex = async () => void handled.push({ name: 'sync_index', input: null });
  servers = await Promise.all([
    openContentSocket({ ...shared, path: paths.content_socket, config_file: '/etc/service.yaml' }),
    openOperatorSocket({ ...shared, state_dir: stateDir, sync_index: syncIndex, follow: null }),
  ]);
});
after(async () => {
  await Promise.all(servers.map(({ close }) => close()));
  folder.remove();
});

interface Exchanged {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: { readonly code?: string; readonly error?: string };
}

/** Sends a request as any program of this machine can. */
function send(
  path: string,
  options: { method?: string; url: string; headers?: Record<string, string>; body?: string | Buffer },
): Promise<Exchanged> {
  const short = openSocketPath(path);
  const { method = 'POST', url, headers = {}, body } = options;
  return new Promise<Exchanged>((resolve, reject) => {
    const request = sendHttp({ socketPath: short.path, method, path: url, headers, agent: false });
    request.on('error', reject).on('response', async (response) => {
      let text = '';
      for await (const piece of response.setEncoding('utf8')) text += piece;
      resolve({ status: response.statusCode!, headers: response.headers, body: JSON.parse(text) });
    });
    request.end(body);
  }).finally(short.close);
}

/** Writes raw bytes to a socket and returns everything that comes back. */
async function sendRaw(path: string, bytes: string): Promise<string> {
  const short = openSocketPath(path);
  const socket = connect(short.path);
  let answer = '';
  socket.on('error', () => {});
  socket.write(bytes);
  for await (const piece of socket.setEncoding('utf8')) answer += piece;
  short.close();
  return answer;
}

const collect = async <Value>(run: () => Promise<Value>): Promise<[Value, typeof handled]> => {
  handled = [];
  return [await run(), handled];
};

const HOOK = { 'x-service-version': '1.2.3', 'x-service-config': encodeURIComponent('/etc/service.yaml') };

describe('the operator socket', () => {
  test('answers the command line as its user, also over a long path', async () => {
    const client = await connectService(stateDir);
    assert.ok(client !== null);
    assert.deepEqual(await client.status(), status);
    assert.equal(await client.leave(), false);
    const [, synced] = await collect(client.syncIndex);
    assert.deepEqual(synced, [{ name: 'sync_index', input: null }]);
    const [answers, called] = await collect(() =>
      Promise.all([1, 2, 3].map((each) => client.call('echo', { each }))),
    );
    assert.deepEqual(
      answers,
      [1, 2, 3].map((each) => ({ name: 'echo', input: { each } })),
    );
    assert.match(called[0]!.caller!.id, /^cli:[A-Za-z0-9._-]+$/);
    assert.equal(called[0]!.caller!.kind, 'person');
    await assert.rejects(client.call('refused', {}), {
      code: 'forbidden',
      message: 'No.',
      details: [{ path: 'tenant_id', message: 'is out of scope' }],
    });
    await assert.rejects(client.follow({}).next(), { code: 'forbidden', message: 'No.' });
    await assert.rejects(client.call('broken', {}), (failure: Error & { code: string }) => {
      assert.equal(failure.code, 'internal');
      assert.ok(!failure.message.includes('secret'));
      return true;
    });
    client.close();
  });

  test('refuses every request without the operator token', async () => {
    const { key } = createApiKey('agent');
    const agent = ensureToken(stateDir, 'agent').token;
    const { token } = ensureToken(stateDir, 'operator');
    const wrong: readonly Record<string, string>[] = [
      {},
      ...[key, agent, `${token}x`, token.slice(1), '', 'undefined'].map((each) => ({
        authorization: `Bearer ${each}`,
      })),
      { authorization: token },
      { authorization: `Basic ${token}` },
      { 'x-service-key': token },
      { 'x-service-user': 'alice' },
    ];
    const requests = [
      ...[{ method: 'GET', url: '/status' }, { url: '/sync-index' }, { url: '/leave' }, { url: '/follow' }],
      ...[{ url: '/operations/approvals_approve', body: '{"request_id":"apr_1"}' }, { url: '/nowhere' }],
    ];
    const [statuses, reached] = await collect(async () => {
      const seen: number[] = [];
      for (const headers of wrong)
        for (const request of requests)
          seen.push((await send(paths.operator_socket, { ...request, headers })).status);
      return seen;
    });
    assert.equal(statuses.length, 66);
    assert.deepEqual(new Set(statuses), new Set([401]));
    assert.deepEqual(reached, []);
    const [right] = await collect(() =>
      send(paths.operator_socket, {
        url: '/operations/echo',
        headers: { authorization: `Bearer ${token}` },
        body: '{}',
      }),
    );
    assert.equal(right.status, 200);
    assert.equal(handled[0]!.caller!.id, 'operator');
  });

  test('follows a rotated token', async () => {
    const old = ensureToken(stateDir, 'operator').token;
    rotateToken(stateDir, 'operator');
    const request = { method: 'GET', url: '/status', headers: { authorization: `Bearer ${old}` } };
    assert.equal((await send(paths.operator_socket, request)).status, 401);
    const client = await connectService(stateDir);
    assert.equal((await client!.status()).pid, process.pid);
  });

  test('says what to do without a readable token', async () => {
    const path = join(stateDir, 'operator-token');
    renameSync(path, `${path}.away`);
    try {
      const client = await connectService(stateDir);
      await assert.rejects(client!.call('echo', {}), {
        code: 'unauthenticated',
        message: /operator-token` cannot be read by this user.*customshouse token rotate operator/,
      });
    } finally {
      renameSync(`${path}.away`, path);
    }
  });
});

describe('the folder of the operator socket', () => {
  test('belongs to its user alone after the start', () => {
    assert.equal(statSync(paths.operator_folder).mode & 0o777, 0o700);
    for (const path of [paths.operator_socket, paths.content_socket])
      assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  test('is not used if other users may enter it', async () => {
    for (const mode of [0o755, 0o710, 0o701, 0o770, 0o777]) {
      chmodSync(paths.operator_folder, mode);
      await assert.rejects(connectService(stateDir), {
        code: 'state_unusable',
        message: new RegExp(`mode ${mode.toString(8)}\\). Run \`chmod 700 .*/operator\``),
      });
    }
    chmodSync(paths.operator_folder, 0o700);
    assert.ok((await connectService(stateDir)) !== null);
  });

  test('is not used if it is a link, a file or of another user', async () => {
    const away = `${paths.operator_folder}-away`;
    renameSync(paths.operator_folder, away);
    try {
      symlinkSync(away, paths.operator_folder);
      await assert.rejects(connectService(stateDir), { message: /it is a link\. Run `rm / });
      rmSync(paths.operator_folder);
      assert.equal(await connectService(stateDir), null);
      writeFileSync(paths.operator_folder, '');
      await assert.rejects(connectService(stateDir), { message: /it is no folder\. Run `rm / });
      rmSync(paths.operator_folder);
    } finally {
      renameSync(away, paths.operator_folder);
    }
    const { getuid } = process;
    process.getuid = () => 4_711;
    try {
      await assert.rejects(connectService(stateDir), { message: /belongs to another user\. Run `rm -r / });
    } finally {
      process.getuid = getuid!;
    }
  });
});

describe('the content socket', () => {
  test('offers the tools of agents and what the MCP proxy needs, and nothing else', () => {
    const proxy = ['approvals_cancel', 'approvals_show', 'mcp_tools_check'];
    const own = operations.filter(({ mcp, permission }) => mcp !== undefined && !isOperators(permission));
    assert.deepEqual(CONTENT_OPERATIONS.toSorted(), [...own.map(({ name }) => name), ...proxy].sort());
    for (const name of CONTENT_OPERATIONS)
      assert.ok(!isOperators(operations.find((one) => one.name === name)!.permission), name);
  });

  test('takes a call as an agent, and keeps the digits of its numbers', async () => {
    const [answer, called] = await collect(() =>
      callWithContent(stateDir, 'intercept_tool', { tool: 't', output: { id: 7 } }),
    );
    assert.deepEqual(answer?.value, { name: 'intercept_tool', input: { tool: 't', output: { id: 7 } } });
    assert.match(called[0]!.caller!.id, /^mcp:/);
    assert.equal(called[0]!.caller!.kind, 'agent');
    const body = '{"checks":[\r\n{"input":{\n"id":12345678901234567890.50\n}}]}';
    const raw = await sendRaw(paths.content_socket, buildRaw('POST /hook', body, HOOK));
    assert.ok(raw.includes('12345678901234567890.50'), raw);
    assert.equal(handled.at(-1)?.caller?.id, 'hook:unknown');
  });

  test('answers 200 calls at once, 64 at a time', async () => {
    const [answers, called] = await collect(() =>
      Promise.all(Array.from({ length: 200 }, (_, at) => callWithContent(stateDir, 'health', { at }))),
    );
    const expected = answers.map((_answer, at) => ({ value: { name: 'health', input: { at } } }));
    assert.deepEqual(answers, expected);
    assert.deepEqual([called.length, mostOpen], [200, 64]);
  });

  test('refuses a request that waited too long, with the reason', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'busy-'));
    // Node's server answers so for a request that it has not read in time.
    const busy = createServer((_request, response) => void response.writeHead(408).end());
    busy.listen(buildStatePaths(dir).content_socket);
    await once(busy, 'listening');
    try {
      const expected = {
        name: 'SocketFailure',
        code: 'unavailable',
        message: 'The service is busy. Try again.',
      };
      await assert.rejects(callWithContent(dir, 'health', {}), expected);
    } finally {
      busy.close();
      rmSync(dir, { recursive: true });
    }
  });

  test('has no other path and no other method', async () => {
    const { token } = ensureToken(stateDir, 'operator');
    const headers = { ...HOOK, authorization: `Bearer ${token}`, 'x-service-user': 'alice' };
    const unknown = [
      ...['/', '/status', '/leave', '/follow', '/sync-index', '/call', '/hook/', '/hook?x=1', '//hook'],
      ...['/operations', '/operations/', '/operations/approvals_approve', '/operations/keys_create'],
      ...[
        '/operations/scan_input/..%2fapprovals_approve',
        '/operations/hook',
        '/HOOK',
        '/operations/__proto__',
      ],
      ...operations
        .filter(({ name }) => !CONTENT_OPERATIONS.includes(name))
        .map(({ name }) => `/operations/${name}`),
    ];
    const [statuses, reached] = await collect(async () => {
      const seen: number[] = [];
      for (const url of unknown)
        seen.push((await send(paths.content_socket, { url, headers, body: '{}' })).status);
      return seen;
    });
    assert.deepEqual(new Set(statuses), new Set([404]));
    assert.deepEqual(reached, []);
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      const refused = await send(paths.content_socket, { method, url: '/hook', headers });
      assert.deepEqual([refused.status, refused.headers.allow], [405, 'POST']);
    }
  });

  test('refuses a hook of another configuration or version', async () => {
    const rows: readonly Record<string, string>[] = [
      {},
      { ...HOOK, 'x-service-version': '1.2.4' },
      { ...HOOK, 'x-service-config': '%2Fetc%2Fother.yaml' },
      { ...HOOK, 'x-service-config': '%' },
    ];
    for (const headers of rows) {
      const refused = await send(paths.content_socket, { url: '/hook', headers, body: '{}' });
      assert.deepEqual([refused.status, refused.body.code], [421, 'other_service']);
    }
    assert.equal((await send(paths.content_socket, { url: '/hook', headers: HOOK, body: '{}' })).status, 200);
    const built = { ...HOOK, 'x-service-version': '1.2.3+abc' };
    assert.equal(
      (await send(paths.content_socket, { url: '/hook', headers: built, body: '{}' })).status,
      200,
    );
  });
});

test('a daemon with an invalid policy leaves hooks to decide', async () => {
  const rows = [
    { is_daemon: true, failure: 'policy_invalid', status: 421 },
    { is_daemon: true, failure: 'reload_failed', status: 200 },
    { is_daemon: true, failure: null, status: 200 },
    { is_daemon: false, failure: 'policy_invalid', status: 200 },
  ] as const;
  for (const { is_daemon, failure, status: expected } of rows) {
    const { runtime } = createTestRuntime({ instead: { reloadFailure: async () => failure } });
    const path = join(stateDir, 'other.sock');
    const server = await openContentSocket({
      ...{ path, runtime, dispatch, jwt: null, config_file: '/etc/service.yaml', status: () => status },
      daemon: is_daemon ? { onRequest: () => {}, onLeave: () => assert.fail('it must stay') } : null,
      log: openLog({ level: 'silent', name: 'test' }),
    });
    const answer = await send(path, { url: '/hook', headers: HOOK, body: '{}' });
    await server.close();
    assert.equal(answer.status, expected, failure ?? 'none');
  }
});

test('both sockets refuse a body that is no JSON, and one that is too long', async () => {
  const { token } = ensureToken(stateDir, 'operator');
  const rows = [
    { path: paths.content_socket, url: '/operations/scan_input', headers: {} },
    { path: paths.operator_socket, url: '/operations/echo', headers: { authorization: `Bearer ${token}` } },
  ];
  const [, reached] = await collect(async () => {
    for (const { path, ...request } of rows) {
      for (const body of ['this is no JSON', '{}{}', '{"a":1}\n{"b":2}', Buffer.from([0x22, 0xff, 0x22])]) {
        const refused = await send(path, { ...request, body });
        assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_request']);
      }
      const long = await send(path, { ...request, body: Buffer.alloc(BODY_BYTES_MAX + 1, 32) });
      assert.deepEqual([long.status, long.body.code], [413, 'too_large']);
    }
  });
  assert.deepEqual(reached, []);
});

test('a connection carries one request, whatever follows its body', async () => {
  const { token } = ensureToken(stateDir, 'operator');
  const approve = buildRaw('POST /operations/approvals_approve', '{"request_id":"apr_1"}', {
    authorization: `Bearer ${token}`,
  });
  const scan = buildRaw('POST /operations/scan_input', '{"text":"hello"}');
  const rows = [
    { path: paths.content_socket, bytes: scan + approve, ran: ['scan_input'] },
    { path: paths.content_socket, bytes: scan + scan, ran: ['scan_input'] },
    {
      path: paths.operator_socket,
      bytes: approve + approve,
      ran: ['approvals_approve'],
    },
    // A length that ends inside the body cuts the JSON off.
    {
      path: paths.content_socket,
      bytes: scan.replace(/content-length: \d+/, 'content-length: 7') + approve,
      ran: [],
    },
    {
      path: paths.content_socket,
      bytes: scan.replace('\r\n\r\n', '\r\ntransfer-encoding: chunked\r\n\r\n') + approve,
      ran: [],
    },
    { path: paths.content_socket, bytes: `{"id":1,"method":"call"}\n${approve}`, ran: [] },
  ];
  for (const { path, bytes, ran } of rows) {
    const [, reached] = await collect(() => sendRaw(path, bytes));
    assert.deepEqual(
      reached.map(({ name }) => name),
      ran,
      bytes,
    );
  }
  assert.equal(rows.length, 6);
});

test('no client connects where no service runs', async () => {
  assert.equal(await connectService(folder.dir), null);
  assert.equal(await callWithContent(folder.dir, 'scan_input', {}), null);
  const stale = buildStatePaths(folder.dir);
  mkdirSync(stale.operator_folder, { mode: 0o700 });
  for (const path of [stale.operator_socket, stale.content_socket]) writeFileSync(path, 'no socket at all');
  assert.equal(await connectService(folder.dir), null);
  assert.equal(await callWithContent(folder.dir, 'scan_input', {}), null);
});

function buildRaw(line: string, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ host: 'x', ...headers, ...length }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `${line} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

function isOperators(permission: Permission | null): boolean {
  return permission !== null && OPERATOR_PERMISSIONS.includes(permission);
}
