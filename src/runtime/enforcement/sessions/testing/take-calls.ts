/** A racer that attempts a number of calls, and returns how many were allowed. */
import type { Racer } from '../../../../platform/store/testing/races.ts';
import { buildExampleCrossing } from '../../../../server/testing/example-crossing.ts';
import { countCall } from '../calls.ts';

interface Tries {
  readonly tries: number;
  readonly calls_max: number;
}

export default async function takeCalls({ store, input }: Racer<Tries>): Promise<number> {
  let taken = 0;
  for (let at = 0; at < input.tries; at++) {
    const given = {
      ...buildExampleCrossing('', { boundary: 'action', phase: 'request' }),
      tool: 'mail.send',
    };
    const { calls_last_minute = 0 } = await countCall(store, given, { per_agent: input.calls_max });
    if (calls_last_minute <= input.calls_max) taken += 1;
  }
  return taken;
}
