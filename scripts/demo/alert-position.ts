import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Runtime } from '../../src/operations/runtime.ts';
import { writePrivateFile } from '../../src/platform/files/private-file.ts';
import type { IndexPlace } from '../../src/runtime/audit/events/pages.ts';

/** Makes the service evaluate its alert rules on events from a time on, instead of those after its first start. */
export async function evaluateAlertsFrom(
  { store }: Pick<Runtime, 'store'>,
  stateDir: string,
  fromMs: number,
): Promise<void> {
  const streamId = randomBytes(12).toString('hex');
  writePrivateFile(join(stateDir, 'alert-stream-id'), streamId, 'replace');
  const place: IndexPlace = { event_id: null, time_ms: fromMs, seqs: {} };
  const { db } = await store();
  const row = { stream_id: streamId, position: JSON.stringify(place), changed_ms: fromMs };
  await db.insertInto('alert_positions').values(row).execute();
}
