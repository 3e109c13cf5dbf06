import assert from 'node:assert/strict';
import { races } from '../store/testing/races.ts';
import { withStores } from '../store/testing/stores.ts';
import type { Done, Requests } from './testing/decide-racer.ts';
import { openDesk } from './testing/open.ts';

const REQUESTS = 1_000;
const WAYS = ['approved', 'denied', 'cancelled'] as const;

withStores('approvals under 8 processes', (law) => {
  law(
    '1,000 requests that all decide on at once have one outcome each, and one use',
    async ({ store, settings }) => {
      const desk = openDesk(store, { pending_per_agent_max: REQUESTS });
      const requests: [string, string][] = [];
      for (let at = 0; at < REQUESTS; at++) {
        const session_id = `s-${at}`;
        const { approval } = await desk.check({ session_id });
        requests.push([approval!.request_id, session_id]);
      }
      const work = new URL('./testing/decide-racer.ts', import.meta.url);
      const done = await races<Done, Requests>({ settings, work, input: requests });
      assert.equal(done.length, 8);

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
      const rows = await store.db.selectFrom('approval_requests').select(['request_id', 'status']).execute();
      assert.equal(rows.length, REQUESTS);
      for (const { request_id, status } of rows) assert.equal(status, outcomes.get(request_id), request_id);

      // One event for each transition, and none for what did not come about.
      const events = done.flatMap((each) => each.events);
      const expected = [...WAYS, 'consumed' as const].flatMap((way) =>
        all(way).map((id) => `approval_${way} ${id}`),
      );
      assert.deepEqual(events.sort(), expected.sort());
      // A race in which one process had all to itself would prove nothing.
      for (const way of [...WAYS, 'consumed' as const])
        assert.ok(all(way).length > 0, `nothing was ${way}: ${done.map((each) => each[way].length)}`);
      assert.ok(done.slice(0, 3).filter(({ approved }) => approved.length > 0).length > 1);
    },
  );
});
