/** A racer that adds tags of its own to one session, one after the other. */
import type { Racer } from '../../../../platform/store/testing/races.ts';
import { buildExampleCrossing } from '../../../../server/testing/example-crossing.ts';
import { readSession, saveSession } from '../sessions.ts';
import { LIMITS } from './limits.ts';

export default async function addTags({ store, number, input: count }: Racer<number>): Promise<number> {
  const given = buildExampleCrossing('', { session_id: 's' });
  for (let at = 0; at < count; at++) {
    const session = await readSession(store, given, LIMITS);
    await saveSession(store, given, session, { add: [`racer-${number}.tag-${at}`], remove: [] }, LIMITS);
  }
  return count;
}
