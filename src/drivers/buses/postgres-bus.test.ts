/** Hints between processes: each reaches all, one in flight may be lost, and a lost connection comes back. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventBus, type Hint, openLocalBus } from '../../platform/cluster/event-bus.ts';
import {
  explainMissingPostgres,
  type PostgresServer,
  startPostgres,
} from '../../platform/store/testing/postgres-server.ts';
import { postgresBus } from './postgres-bus.ts';

const skip = explainMissingPostgres() ?? false;
let server: PostgresServer | null = null;
after(() => server?.remove());

function listenTo(bus: EventBus): Hint[] {
  const heard: Hint[] = [];
  bus.subscribe((hint) => heard.push(hint));
  return heard;
}

/** Publishes until all have received it, because a hint is lost until the connections are there. */
async function publishUntilHeard(from: EventBus, hint: Hint, lists: readonly Hint[][]): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    await from.publish(hint);
    await sleep(50);
    if (lists.every((heard) => heard.some(({ id }) => id === hint.id))) return;
  }
  assert.fail(`not everyone heard ${hint.id}`);
}

test('a hint reaches every subscriber of one node once', async () => {
  const bus = openLocalBus();
  const [first, second] = [listenTo(bus), listenTo(bus)];
  const left: Hint[] = [];
  bus.subscribe((hint) => left.push(hint))();
  await bus.publish({ topic: 'approval', id: 'apr_1' });
  assert.deepEqual([first, second, left], [[{ topic: 'approval', id: 'apr_1' }], first, []]);
  await bus.close();
  await bus.publish({ topic: 'revision', id: '' });
  assert.equal(first.length, 1);
});

test('hints reach other nodes, also after a database restart', { skip }, async () => {
  server = await startPostgres();
  const url = await server.makeDatabase();
  const [one, other] = [postgresBus.open({ url }), postgresBus.open({ url })];
  const elsewhere = postgresBus.open({ url: await server.makeDatabase() });
  const [heardByOne, heardByOther, heardElsewhere] = [one, other, elsewhere].map(listenTo);
  await publishUntilHeard(one, { topic: 'approval', id: 'apr_1' }, [heardByOne!, heardByOther!]);
  await publishUntilHeard(elsewhere, { topic: 'approval', id: 'apr_2' }, [heardElsewhere!]);
  assert.ok(heardElsewhere!.every(({ id }) => id === 'apr_2'));
  assert.ok(heardByOne!.every(({ id }) => id === 'apr_1'));
  // Others with access to the database can send anything on the channel.
  const before = heardByOther!.length;
  for (const text of [
    'approval',
    'nothing apr_1',
    'approval a b',
    `approval ${'x'.repeat(129)}`,
    "approval '",
  ])
    await server.run(`select pg_notify('customshouse_hints', $$${text}$$)`, url);
  await publishUntilHeard(one, { topic: 'revision', id: 'end' }, [heardByOther!]);
  assert.deepEqual(
    heardByOther!.slice(before).filter(({ id }) => id !== 'end'),
    [{ topic: 'approval', id: '' }],
  );
  await server.stop();
  await one.publish({ topic: 'approval', id: 'lost' });
  await server.start();
  await publishUntilHeard(other, { topic: 'approval', id: 'apr_3' }, [heardByOne!, heardByOther!]);
  await Promise.all([one, other, elsewhere].map((bus) => bus.close()));
});
