import assert from 'node:assert/strict';
import type { StoreSettings } from '../../platform/store/index.ts';
import { runRace } from '../../platform/store/testing/races.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { type Done, type Requests, ROLES } from './testing/decide-racer.ts';
import { openTestApprovals } from './testing/open.ts';

const REQUESTS = process.env.NIGHTLY === undefined ? 100 : 1_000;
const WAYS = ['approved', 'denied', 'cancelled'] as const;
/** On a busy machine, one process may be scheduled only after the others have decided on everything. */
const ATTEMPTS_MAX = 5;

withStores('approvals under several processes', (law) => {
  law(
    'requests that all decide on at once have one outcome each, and one use',
    async ({ store, settings }) => {
      let contest = await runContest(store, settings, 1);
      for (let attempt = 2; !contest.was_contested && attempt <= ATTEMPTS_MAX; attempt++)
        contest = await runContest(store, settings, attempt);
      // A race in which one process did everything would prove nothing.
      assert.ok(contest.was_contested, `no race in ${ATTEMPTS_MAX} attempts; the last: ${contest.shares}`);
    },
  );
});

type LawStore = Parameters<typeof openTestApprovals>[0];
type Contest = { readonly was_contested: boolean; readonly shares: string };

/**
 * Races once, asserts that every request had one outcome, and returns whether all kinds of racers took part.
 */
async function runContest(store: LawStore, settings: StoreSettings, attempt: number): Promise<Contest> {
  const requests = await askForAll(store, attempt);
  const work = new URL('./testing/decide-racer.ts', import.meta.url);
  const done = await runRace<Done, Requests>({ settings, work, input: requests, processes: ROLES.length });
  assert.equal(done.length, ROLES.length);

  const all = (way: (typeof WAYS)[number] | 'consumed') => done.flatMap((each) => each[way]);
  const decided = WAYS.flatMap(all);
  assert.equal(decided.length, REQUESTS);
  assert.equal(new Set(decided).size, REQUESTS);
  assert.deepEqual(all('consumed').sort(), all('approved').sort());

  const outcomes = new Map([
    ...all('denied').map((id) => [id, 'denied'] as const),
    ...all('cancelled').map((id) => [id, 'cancelled'] as const),
    ...all('consumed').map((id) => [id, 'consumed'] as const),
  ]);
  const own = new Set(requests.map(([requestId]) => requestId));
  const rows = await store.db.selectFrom('approval_requests').select(['request_id', 'status']).execute();
  assert.equal(rows.length, REQUESTS * attempt);
  const rowsNow = rows.filter(({ request_id }) => own.has(request_id));
  assert.equal(rowsNow.length, REQUESTS);
  for (const { request_id, status } of rowsNow) assert.equal(status, outcomes.get(request_id), request_id);

  // Each transition has one event, and a transition that did not happen has none.
  const events = done.flatMap((each) => each.events);
  const expected = [...WAYS, 'consumed' as const].flatMap((way) =>
    all(way).map((id) => `approval_${way} ${id}`),
  );
  assert.deepEqual(events.sort(), expected.sort());

  const ways = [...WAYS, 'consumed' as const];
  return {
    was_contested:
      ways.every((way) => all(way).length > 0) &&
      done.slice(0, 3).filter(({ approved }) => approved.length > 0).length > 1,
    shares: ways.map((way) => `${way} ${done.map((each) => each[way].length)}`).join('; '),
  };
}

async function askForAll(store: LawStore, attempt: number): Promise<[string, string][]> {
  const approvalsTest = openTestApprovals(store, { pending_per_agent_max: REQUESTS });
  const requests: [string, string][] = [];
  for (let at = 0; at < REQUESTS; at++) {
    const sessionId = `s-${attempt}-${at}`;
    const { approval } = await approvalsTest.check({ session_id: sessionId });
    requests.push([approval!.request_id, sessionId]);
  }
  return requests;
}
