/** A racer that adds values to one session, one after the other. */
import type { Racer } from '../../../../platform/store/testing/races.ts';
import { LIMITS } from '../../sessions/testing/limits.ts';
import { openValueIndex } from '../index.ts';
import { OWNER, SECRET } from './owner.ts';

export default async function addValues({ store, number, input: count }: Racer<number>): Promise<number> {
  const index = openValueIndex(() => SECRET);
  for (let at = 0; at < count; at++) {
    const loaded = await index.load(store, OWNER, Date.now(), LIMITS);
    const hash = loaded.seen.hashValue('exact', `value ${at} of racer ${number}`);
    const add = [{ hash, form: 'exact', label: 'user' }] as const;
    const change = { add, end: [], origin: null, event_id: `evt_${number}_${at}` };
    await index.save(store, loaded, change, Date.now(), LIMITS);
  }
  return count;
}
