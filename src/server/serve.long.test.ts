/** The service as processes: a parent and two workers, with real signals. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadPublicKeys, verifyJournal } from '../runtime/audit/index.ts';
import type { ReloadReport } from '../runtime/policies/reload-report.ts';
import { connectService } from './socket-client.ts';
import { buildStatePaths } from './state-dir.ts';
import { SECRET } from './testing/examples.ts';
import {
  createTestFolder,
  isAlive,
  readAllFiles,
  startTestService,
  stopLeftoverServices,
  type TestFolder,
  type TestService,
  waitFor,
} from './testing/service.ts';

after(stopLeftoverServices);

const ALLOW_ALL = 'policies:\n  - {name: lenient, boundary: input, data_tags: [secret], action: allow}\n';
const FLAG_ALL = 'policies:\n  - {name: watchful, boundary: input, data_tags: [secret], action: flag}\n';

async function isIntact(folder: TestFolder): Promise<void> {
  const paths = buildStatePaths(folder.state_dir);
  const report = await verifyJournal({ dir: paths.journal, public_keys: await loadPublicKeys(paths.keys) });
  assert.equal(report.intact, true, JSON.stringify(report.broken));
}

/** Sends requests until both workers have answered. Returns one answer of each. */
async function askBoth(service: TestService, body: object): Promise<Record<string, string>[]> {
  const byPid = new Map<number, Record<string, string>>();
  for (let i = 0; i < 500 && byPid.size < 2; i++) {
    const answer = await service.post('/check', body);
    byPid.set(answer.pid, answer);
  }
  assert.equal(byPid.size, 2, 'one of the workers never answered');
  return [...byPid.values()];
}

/** Declares a test of the nightly round alone. */
function testNightly(name: string, work: () => Promise<void>): void {
  if (process.env.NIGHTLY !== undefined) void test(name, work);
}

describe('a service with two workers', () => {
  const folder = createTestFolder();
  let service: TestService;
  before(async () => {
    writeFileSync(join(folder.dir, 'service.yaml'), '');
    service = await startTestService(folder.dir);
  });
  after(async () => {
    service.signal('SIGKILL');
    await service.ended;
    folder.remove();
  });

  test('keeps its state to its user', () => {
    assert.equal(statSync(folder.state_dir).mode & 0o777, 0o700);
    for (const file of [
      'owner.json',
      'operator-token',
      'content.sock',
      'operator/operator.sock',
      'owner.lock',
    ]) {
      assert.equal(statSync(join(folder.state_dir, file)).mode & 0o777, 0o600, file);
    }
  });

  test('answers from both workers, and each writes down what it answers', async () => {
    const answers = await askBoth(service, { text: `Use key ${SECRET}`, agent_id: 'agent-a' });
    for (const { decision, rule } of answers)
      assert.deepEqual([decision, rule], ['block', 'builtin.secret.input']);
    for (const { event_id } of answers) {
      const { events } = await service.post('/query', { event_id });
      assert.deepEqual(
        events.map((event: { event_id: string }) => event.event_id),
        [event_id],
      );
    }
  });

  /** Returns the number of checks that the whole service counts as allowed. */
  const counted = async (): Promise<number> => {
    const { text } = await service.post('/metrics');
    return Number(
      /^service_requests_total\{endpoint="scan_input",decision="allow"\} (\d+)$/m.exec(text)?.[1],
    );
  };

  test('any worker answers for all: agents and metrics', async () => {
    const agents = ['agent-1', 'agent-2', 'agent-3', 'agent-4', 'agent-5', 'agent-6'];
    for (const agentId of agents) await service.post('/check', { text: 'hello', agent_id: agentId });
    for (let i = 0; i < 8; i++) {
      const seen: string[] = await service.post('/agents');
      assert.deepEqual(
        agents.filter((agentId) => !seen.includes(agentId)),
        [],
      );
    }
    const beforeCount = await counted();
    await askBoth(service, { text: 'hello' });
    const more = (await counted()) - beforeCount;
    assert.ok(more >= 2);
    for (let i = 0; i < 4; i++) assert.equal(await counted(), beforeCount + more);
  });

  test('is ready when its stores are open', async () => {
    assert.equal(await waitFor(async () => (await service.post('/ready')).ready), true);
  });

  test('a reload through one worker is active in both when it is answered', async () => {
    writeFileSync(join(folder.dir, 'service.yaml'), ALLOW_ALL);
    const report = await service.post('/reload');
    assert.equal(report.reloaded, true);
    for (const { decision, rule, policy_hash } of await askBoth(service, { text: SECRET })) {
      assert.deepEqual([decision, rule], ['allow', 'lenient']);
      assert.equal(policy_hash, report.policy_hash);
    }
    const { events } = await service.post('/query', { phase: 'policy_reload' });
    assert.ok(events.some((each: { policy_hash: string }) => each.policy_hash === report.policy_hash));
  });

  test('a bad file keeps the old policy everywhere, and says what is wrong', async () => {
    const [{ policy_hash: beforeHash } = {}] = await askBoth(service, { text: SECRET });
    writeFileSync(join(folder.dir, 'service.yaml'), 'policies:\n  - {name: broken, boundary: nowhere}\n');
    const report = await service.post('/reload');
    assert.equal(report.reloaded, false);
    assert.equal(report.policy_hash, beforeHash);
    assert.ok(report.problems.length > 0);
    for (const { policy_hash } of await askBoth(service, { text: SECRET }))
      assert.equal(policy_hash, beforeHash);
  });

  test('SIGHUP reloads', async () => {
    writeFileSync(join(folder.dir, 'service.yaml'), FLAG_ALL);
    service.signal('SIGHUP');
    await waitFor(async () =>
      (await askBoth(service, { text: SECRET })).every(({ rule }) => rule === 'watchful'),
    );
  });

  test('a changed file is noticed', async () => {
    writeFileSync(join(folder.dir, 'service.yaml'), ALLOW_ALL);
    const isLenient = async (): Promise<boolean> =>
      (await askBoth(service, { text: SECRET })).every(({ rule }) => rule === 'lenient');
    await waitFor(isLenient);
  });

  test('a worker that does not come along keeps the old policy everywhere', async () => {
    const beforeAnswers = await askBoth(service, { text: SECRET });
    const { policy_hash } = beforeAnswers[0]!;
    const halted = Number(beforeAnswers[1]!.pid);
    process.kill(halted, 'SIGSTOP');
    writeFileSync(join(folder.dir, 'service.yaml'), FLAG_ALL);
    const client = await connectService(folder.state_dir);
    const reload = client!.call('policies_reload', {}) as Promise<ReloadReport>;
    await sleep(300);
    process.kill(halted, 'SIGKILL');
    const report = await reload;
    // The file watch could find this change on its own, but this test is about SIGHUP.
    writeFileSync(join(folder.dir, 'service.yaml'), ALLOW_ALL);
    client!.close();
    assert.ok(!report.reloaded);
    assert.match(report.problems[0]!.message, /worker-[12] could not load it/);
    assert.equal(report.policy_hash, policy_hash);
    for (const answer of await waitFor(() => askBoth(service, { text: SECRET }))) {
      assert.equal(answer.policy_hash, policy_hash);
    }
  });

  test('a killed worker is started again, continues its journal, and has the active policy', async () => {
    const [{ pid, policy_hash } = { pid: '', policy_hash: '' }] = await askBoth(service, { text: 'hello' });
    const beforeCount = await counted();
    process.kill(Number(pid), 'SIGKILL');
    const answers = await waitFor(async () => {
      const both = await askBoth(service, { text: 'hello' });
      return both.every((answer) => answer.pid !== pid) && both;
    });
    for (const answer of answers) assert.equal(answer.policy_hash, policy_hash);
    assert.ok((await counted()) >= beforeCount + 2, 'what the killed one counted is not forgotten');
    assert.match(service.log(), /is started again/);
  });

  test('a fault in a worker ends it, and its message appears nowhere', async () => {
    await service.post('/crash').catch(() => {});
    await waitFor(async () => /the worker has a fault/.test(service.log()));
    await waitFor(() => askBoth(service, { text: 'hello' }));
    assert.ok(!service.log().includes('a message with a secret'));
  });

  test('a second start on the folder says who has it', async () => {
    const second = await startTestService(folder.dir);
    assert.equal(await second.ended, 2);
    assert.equal(second.printed.failure?.code, 'state_in_use');
    assert.match(
      second.printed.failure?.message ?? '',
      new RegExp(`process ${service.printed.pid}, ${service.printed.url}`),
    );
    await askBoth(service, { text: 'hello' });
  });

  test('nothing of a text is in what it wrote', () => {
    assert.ok(!readAllFiles(folder.state_dir).includes(SECRET));
    assert.ok(!service.log().includes(SECRET));
  });
});

describe('the end of a service', () => {
  let folder: TestFolder;
  before(() => {
    folder = createTestFolder();
  });
  after(() => folder.remove());

  test('SIGTERM under load: every request that was accepted is answered, and the journal is signed', async () => {
    const service = await startTestService(folder.dir);
    await askBoth(service, { text: 'hello' });
    const requested = Array.from({ length: 20 }, () =>
      service.post('/check', { text: 'slow', delay_ms: 2_500 }),
    );
    await sleep(1_000);
    service.signal('SIGTERM');
    const answers = await Promise.all(requested);
    assert.equal(await service.ended, 0);
    assert.equal(new Set(answers.map(({ event_id }) => event_id)).size, 20);
    for (const { pid } of service.printed.workers) assert.equal(isAlive(pid), false);
    for (const name of ['content.sock', 'operator/operator.sock', 'owner.json'])
      assert.equal(existsSync(join(folder.state_dir, name)), false);
    await isIntact(folder);
    const paths = buildStatePaths(folder.state_dir);
    const report = await verifyJournal({ dir: paths.journal, public_keys: await loadPublicKeys(paths.keys) });
    for (const writer of report.writers) assert.equal(writer.unsigned_tail, 0, writer.writer);
    const journal = readAllFiles(paths.journal);
    for (const { event_id } of answers) assert.ok(journal.includes(event_id));
  });

  testNightly(
    'a writer that was deleted after a stop is found without the index, and the next start logs it',
    async () => {
      const own = createTestFolder();
      const first = await startTestService(own.dir);
      const [{ event_id } = {}] = await askBoth(first, { text: 'hello' });
      await waitFor(async () => (await first.post('/query', { event_id })).count === 1);
      first.signal('SIGTERM');
      assert.equal(await first.ended, 0);
      await isIntact(own);
      const paths = buildStatePaths(own.state_dir);
      const publicKeys = await loadPublicKeys(paths.keys);
      const { writers } = await verifyJournal({ dir: paths.journal, public_keys: publicKeys });
      const { writer } = writers.find((each) => each.writer !== 'parent')!;
      rmSync(join(paths.journal, writer), { recursive: true });
      const { broken } = await verifyJournal({ dir: paths.journal, public_keys: publicKeys });
      assert.deepEqual([broken?.writer, broken?.reason.slice(0, 26)], [writer, 'The whole chain is missing']);
      const second = await startTestService(own.dir);
      assert.equal(second.printed.failure, undefined);
      await waitFor(async () => second.log().includes('customshouse audit verify'));
      const line = second
        .log()
        .split('\n')
        .find((each) => each.includes('customshouse audit verify'));
      assert.ok(line?.includes(writer), line);
      await askBoth(second, { text: 'hello' });
      second.signal('SIGTERM');
      assert.equal(await second.ended, 0);
      own.remove();
    },
  );

  testNightly('a second signal cuts the stop short', async () => {
    const service = await startTestService(folder.dir);
    const requested = service.post('/check', { text: 'slow', delay_ms: 8_000 }).catch(() => 'cut off');
    await sleep(1_000);
    service.signal('SIGTERM');
    // A second signal within one second is an echo, so a slow machine needs more than one.
    const again = setInterval(() => service.signal('SIGTERM'), 1_200);
    const code = await service.ended.finally(() => clearInterval(again));
    assert.equal(code, 1);
    assert.equal(await requested, 'cut off');
    await isIntact(folder);
  });

  test('SIGKILL of the parent: the workers answer what they have, end, and another start takes over at once', async () => {
    const service = await startTestService(folder.dir);
    await askBoth(service, { text: 'hello' });
    const requested = service.post('/check', { text: 'slow', delay_ms: 2_500 });
    await sleep(1_000);
    service.signal('SIGKILL');
    const second = await startTestService(folder.dir);
    assert.equal(second.printed.failure, undefined);
    const { event_id } = await requested;
    await waitFor(async () => service.printed.workers.every(({ pid }) => !isAlive(pid)));
    const { events } = await waitFor(async () => {
      const page = await second.post('/query', { event_id });
      return page.count === 1 && page;
    });
    assert.equal(events.length, 1);
    second.signal('SIGTERM');
    assert.equal(await second.ended, 0);
    await isIntact(folder);
  });

  testNightly(
    'SIGINT of the whole group, as a terminal sends it, is one graceful stop, also when it is passed on again',
    async () => {
      const service = await startTestService(folder.dir);
      const requested = service.post('/check', { text: 'slow', delay_ms: 2_500 });
      await sleep(1_000);
      for (const { pid } of service.printed.workers) process.kill(pid, 'SIGINT');
      service.signal('SIGINT');
      await sleep(50);
      service.signal('SIGINT');
      assert.equal((await requested).decision, 'allow');
      assert.equal(await service.ended, 0);
    },
  );
});

describe('a start that cannot be', () => {
  const folder = createTestFolder();
  after(() => folder.remove());

  test('an invalid configuration is reported with its problems, and leaves no process', async () => {
    writeFileSync(join(folder.dir, 'service.yaml'), 'server: {prot: 1}\n');
    const service = await startTestService(folder.dir);
    assert.equal(await service.ended, 2);
    assert.equal(service.printed.failure?.code, 'config_invalid');
    assert.equal(service.printed.failure?.problems.length, 1);
  });

  test('an address that another program has is refused, also one that would share it', async () => {
    const other = createServer();
    const address: Parameters<typeof other.listen>[0] & { reusePort: true } = {
      host: '127.0.0.1',
      port: 0,
      reusePort: true,
    };
    await new Promise<void>((resolve) => other.listen(address, resolve));
    const { port } = other.address() as { port: number };
    const { findFreePort } = await import('./port.ts');
    await assert.rejects(findFreePort('127.0.0.1', port), { code: 'address_in_use' });
    other.close();
    assert.equal(await findFreePort('127.0.0.1', port), port);
    assert.ok((await findFreePort('127.0.0.1', 0)) > 0);
    await assert.rejects(findFreePort('192.0.2.1', 0), { code: 'address_unusable' });
  });

  test('what the folder holds of an owner that was killed is no obstacle', async () => {
    writeFileSync(join(folder.dir, 'service.yaml'), '');
    const first = await startTestService(folder.dir, 1);
    first.signal('SIGKILL');
    await first.ended;
    assert.ok(existsSync(join(folder.state_dir, 'content.sock')));
    assert.equal(
      JSON.parse(readFileSync(join(folder.state_dir, 'owner.json'), 'utf8')).pid,
      first.printed.pid,
    );
    const second = await startTestService(folder.dir, 1);
    assert.equal(second.printed.failure, undefined);
    second.signal('SIGTERM');
    assert.equal(await second.ended, 0);
  });
});
