import assert from 'node:assert/strict';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Runtime } from '../operations/runtime.ts';
import { openLog } from '../platform/log.ts';
import type { Caller } from '../runtime/access/types.ts';
import { connectService } from './socket-client.ts';
import { openSocketPath } from './socket-path.ts';
import { openLineReader } from './socket-protocol.ts';
import { openSocketServer, type ServiceStatus, type SocketServer } from './socket-server.ts';
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
let server: SocketServer;
const callers: Caller[] = [];
let synced = 0;

/** Deep enough that the path of its socket is too long for the kernel. */
const deep = 'a-folder-with-a-long-name'.repeat(4);

before(async () => {
  folder = createTestFolder();
  const state_dir = join(folder.dir, deep);
  mkdirSync(state_dir);
  const path = buildStatePaths(state_dir).socket;
  writeFileSync(path, 'what a killed service left');
  server = await openSocketServer({
    path,
    runtime: {} as Runtime,
    config_file: null,
    follow: null,
    daemon: null,
    status: () => status,
    sync_index: async () => {
      synced += 1;
    },
    log: openLog({ level: 'silent', name: 'test' }),
    dispatch: async (operation, input, { caller }) => {
      callers.push(caller);
      if (operation === 'refused') throw new Refused('No.');
      if (operation === 'broken') throw new Error('a fault that holds a secret');
      return { operation, input };
    },
  });
});
after(async () => {
  await server.close();
  folder.remove();
});

test('a command reaches the service as its user, also over a long path', async () => {
  const client = await connectService(join(folder.dir, deep));
  assert.ok(client !== null);
  assert.deepEqual(await client.status(), status);
  await client.syncIndex();
  assert.equal(synced, 1);
  const answers = await Promise.all([1, 2, 3].map((each) => client.call('echo', { each })));
  assert.deepEqual(
    answers,
    [1, 2, 3].map((each) => ({ operation: 'echo', input: { each } })),
  );
  assert.match(callers[0]!.id, /^cli:[A-Za-z0-9._-]+$/);
  assert.equal(callers[0]!.kind, 'person');
  await assert.rejects(client.call('refused', {}), {
    code: 'forbidden',
    message: 'No.',
    details: [{ path: 'tenant_id', message: 'is out of scope' }],
  });
  await assert.rejects(client.call('broken', {}), (failure: Error & { code: string }) => {
    assert.equal(failure.code, 'internal');
    assert.ok(!failure.message.includes('secret'));
    return true;
  });
  client.close();
});

test('only its user may open the socket', () => {
  assert.equal(statSync(buildStatePaths(join(folder.dir, deep)).socket).mode & 0o777, 0o600);
});

test('where no service runs there is no client', async () => {
  assert.equal(await connectService(folder.dir), null);
  writeFileSync(buildStatePaths(folder.dir).socket, 'no socket at all');
  assert.equal(await connectService(folder.dir), null);
});

test('what is no question is answered as a fault', async () => {
  const short = openSocketPath(buildStatePaths(join(folder.dir, deep)).socket);
  const socket = connect(short.path);
  const answer = await new Promise<string>((resolve) => {
    socket.once('data', (chunk) => resolve(String(chunk)));
    socket.write('this is no JSON\n');
  });
  assert.equal(JSON.parse(answer).refusal.code, 'internal');
  socket.destroy();
  short.close();
});

test('lines are cut out of pieces, and one that is too long is refused', () => {
  const rows = [
    { pieces: ['a\nb\n'], lines: ['a', 'b'] },
    { pieces: ['a', 'b', 'c\nd', 'e\n'], lines: ['abc', 'de'] },
    { pieces: ['\n\n'], lines: ['', ''] },
    { pieces: ['no end'], lines: [] },
    { pieces: ['12345678', '9'], lines: null },
  ];
  let ran = 0;
  for (const { pieces, lines } of rows) {
    const reader = openLineReader(8);
    const read = pieces.map((piece) => reader(Buffer.from(piece)));
    assert.deepEqual(read.includes(null) ? null : read.flat(), lines);
    ran += 1;
  }
  assert.equal(ran, 5);
});
