/** Slow and failed servers do not delay the lists of others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryServers } from './query-servers.ts';
import { ServerFailure } from './server-failure.ts';
import type { UpstreamServer } from './upstream-server.ts';

type Answer = (name: string) => Promise<string>;

const never: Answer = () => new Promise(() => {});
const fast: Answer = async (name) => name;
const dead: Answer = async () => {
  throw new ServerFailure('unreachable');
};

function createQueryParts(answers: Readonly<Record<string, Answer>>, failing: readonly string[] = []) {
  const report: string[] = [];
  const servers = Object.keys(answers).map(
    (name) => ({ name, upstream: { is_failing: () => failing.includes(name) } }) as unknown as UpstreamServer,
  );
  const parts = {
    servers,
    logFailure: (name: string) => void report.push(`${name} failed`),
    onListFailure: ({ name }: UpstreamServer) => void report.push(`${name} arrived`),
  };
  return {
    told: report,
    answers: queryServers(parts, 'tools/list', 'tools', ({ name }) => answers[name]!(name)),
  };
}

test('a slow server is left out, named, and reported when it answers', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let answer: (name: string) => void = () => {};
  const slow: Answer = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const { answers, told: report } = createQueryParts({ one: fast, slow, dead });
  await new Promise(setImmediate);
  t.mock.timers.tick(9_999);
  assert.equal(
    await Promise.race([answers, new Promise((resolve) => setImmediate(resolve, 'waits'))]),
    'waits',
  );
  t.mock.timers.tick(1);
  assert.deepEqual(await answers, { answers: ['one'], slow: ['slow'] });
  assert.deepEqual(report, ['dead failed']);
  answer('slow');
  await new Promise(setImmediate);
  assert.deepEqual(report, ['dead failed', 'slow arrived']);
});

const NONE = { answers: [], slow: [] };

test('a server that failed before causes no wait, and one that answers is included', async () => {
  assert.deepEqual(await createQueryParts({ one: fast, two: never }, ['two']).answers, {
    answers: ['one'],
    slow: ['two'],
  });
  assert.deepEqual(await createQueryParts({ one: dead, two: fast }, ['one', 'two']).answers, {
    answers: ['two'],
    slow: [],
  });
  assert.deepEqual(await createQueryParts({ one: dead, two: dead }).answers, NONE);
  assert.deepEqual(await createQueryParts({}).answers, NONE);
});

test('the failure of a single server is reported', async () => {
  await assert.rejects(createQueryParts({ one: dead }).answers, ServerFailure);
});
