import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startTestService, type TestService } from './support/service.ts';
import { openReader } from './support/stream.ts';
import { until } from './support/until.ts';

const SECRET = ['sk-', 'ABCDEF1234567890'].join('');

/** Makes a decision on a connection of its own, so that both workers decide. */
async function decide(service: TestService, agentId: string, fields: object = {}): Promise<string> {
  const { text = 'hello', ...others } = fields as { text?: string };
  const answer = await fetch(`${service.url}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ text, agent_id: agentId, ...others }),
  });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { event_id: string }).event_id;
}

/** Returns the number of these decisions that a worker made. */
function decidedBy(service: TestService, writer: string, eventIds: readonly string[]): number {
  const dir = join(service.state_dir, 'journal', writer);
  const written = readdirSync(dir).map((file) => readFileSync(join(dir, file), 'utf8'));
  return eventIds.filter((id) => written.some((text) => text.includes(id))).length;
}

describe('the event stream of a service with two workers', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ workers: 2 });
  });
  after(() => service.stop());

  test('every decision comes once, whichever worker made it and whichever serves the reader', async () => {
    const readers = await Promise.all(Array.from({ length: 6 }, () => openReader(service.url)));
    const decided: string[] = [];
    for (let count = 0; count < 12; count++) decided.push(await decide(service, `agent-${count}`));
    for (const { events } of readers) {
      await until(() => events.length >= 12, 'all decisions come');
      assert.deepEqual(events.map(({ event_id }) => event_id).sort(), decided.toSorted());
    }
    for (const reader of readers) reader.close();
    const shares = ['worker-1', 'worker-2'].map((writer) => decidedBy(service, writer, decided));
    assert.ok(
      shares.every((share) => share > 0),
      `both workers decided: ${shares.join(' and ')}`,
    );
  });

  test('an event says what was decided, and nothing of what was judged', async () => {
    const reader = await openReader(service.url);
    await decide(service, 'leaky', { text: `use ${SECRET}`, context: { tenant_id: 'acme' } });
    await until(() => reader.events.length === 1, 'the event comes');
    const [event] = reader.events;
    assert.deepEqual(Object.keys(event!).sort(), [
      'action',
      'agent_id',
      'boundary',
      'data_tags',
      'decision',
      'event_id',
      'rule',
      'tenant_id',
      'timestamp',
    ]);
    assert.equal(event!.decision, 'block');
    assert.equal(event!.tenant_id, 'acme');
    assert.ok((event!.data_tags as string[]).some((tag) => tag.startsWith('secret.')));
    assert.ok(!JSON.stringify(event).includes(SECRET));
    reader.close();
  });

  test('filters in the address and in the message', async () => {
    const all = await openReader(service.url);
    const blocked = await openReader(service.url, '?decision=block');
    const narrowed = await openReader(service.url);
    narrowed.send({ boundary: 'input', tenant_id: 'globex' });
    await decide(service, 'plain');
    await decide(service, 'leaky', { text: SECRET });
    await decide(service, 'other', { context: { tenant_id: 'globex' } });
    await until(() => all.events.length === 3, 'all come to whom asks for all');
    await until(() => blocked.events.length === 1 && narrowed.events.length === 1, 'what fits comes');
    assert.equal(blocked.events[0]!.agent_id, 'leaky');
    assert.equal(narrowed.events[0]!.agent_id, 'other');
    for (const reader of [all, blocked, narrowed]) reader.close();
  });
});

test('a reader that comes back misses nothing and gets nothing twice: a worker, the service, the index gone', async () => {
  let service = await startTestService({ keep: true, workers: 2 });
  const decided: string[] = [];
  const seen: string[] = [];
  /** Makes decisions while the reader is connected, and while it is not; the latter must not be missed. */
  const round = async (name: string): Promise<void> => {
    const last = seen.at(-1);
    const reader = await openReader(service.url, last === undefined ? '' : `?after=${last}`);
    for (let count = 0; count < 5; count++) decided.push(await decide(service, `${name}-${count}`));
    await until(() => seen.length + reader.events.length >= decided.length, `${name}: all decisions come`);
    seen.push(...reader.events.map(({ event_id }) => event_id));
    reader.close();
    await reader.closed;
    for (let count = 0; count < 5; count++) decided.push(await decide(service, `${name}-missed-${count}`));
  };
  await round('first');
  const [pid] = service.worker_pids();
  process.kill(pid!, 'SIGKILL');
  await until(
    () => service.worker_pids().length === 2 && !service.worker_pids().includes(pid!),
    'a new worker',
  );
  await round('worker killed');
  await service.kill('SIGKILL');
  service = await startTestService({ dir: service.dir });
  await round('service killed');
  await service.kill('SIGKILL');
  for (const suffix of ['', '-wal', '-shm'])
    rmSync(join(service.state_dir, `index.db${suffix}`), { force: true });
  service = await startTestService({ dir: service.dir });
  await round('index gone');
  await round('last');
  assert.deepEqual(seen.toSorted(), decided.slice(0, -5).toSorted());
  assert.equal(new Set(seen).size, seen.length);
  await service.stop();
});
