/** A process that adds tags one by one and reports each when it is durable, until it is killed. */
import type { StoreSettings } from '../../../../platform/store/index.ts';
import { openServiceStore } from '../../../../server/store.ts';
import { buildExampleCrossing } from '../../../../server/testing/example-crossing.ts';
import { readSession, saveSession } from '../sessions.ts';
import { LIMITS } from './limits.ts';

process.once('disconnect', () => process.exit(1));
process.once('message', async (settings: StoreSettings) => {
  const store = await openServiceStore(settings);
  const given = buildExampleCrossing('', { session_id: 's' });
  for (let at = 0; ; at++) {
    const session = await readSession(store, given, LIMITS);
    await saveSession(store, given, session, { add: [`tag-${at}`], remove: [] }, LIMITS);
    process.send?.(at);
  }
});
