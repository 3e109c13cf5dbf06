import type { Store } from '../../platform/store/index.ts';
import type { MaintenanceJob } from '../../platform/store/maintenance.ts';
import type { Config } from '../../runtime/config/index.ts';
import { readAccountSettings } from './account-settings.ts';
import type { AccountSettings } from './types.ts';

const EVERY_MS = 60_000;

interface Parts {
  readonly config: Config;
  readonly store: () => Promise<Store>;
  readonly ports: () => { readonly now_ms: () => number };
}

/** Builds the job that deletes sessions, links and one-time values that have ended. */
export function buildAccountJobs({ config, store, ports }: Parts): readonly MaintenanceJob[] {
  const settings = readAccountSettings(config);
  return [
    {
      name: 'accounts: delete sessions and one-time values that have ended',
      every_ms: EVERY_MS,
      run: async () => {
        await deleteStaleSignIns(await store(), ports().now_ms(), settings);
        return false;
      },
    },
  ];
}

/** Deletes what has ended, and returns the number of rows. */
export async function deleteStaleSignIns(
  { db }: Store,
  nowMs: number,
  { idle_ms, absolute_ms, attempts_window_ms }: AccountSettings,
): Promise<number> {
  const ended = await Promise.all([
    db
      .deleteFrom('user_sessions')
      .where((eb) =>
        eb.or([eb('seen_ms', '<=', nowMs - idle_ms), eb('created_ms', '<=', nowMs - absolute_ms)]),
      )
      .executeTakeFirst(),
    db.deleteFrom('user_links').where('expires_ms', '<=', nowMs).executeTakeFirst(),
    db.deleteFrom('sign_in_challenges').where('expires_ms', '<=', nowMs).executeTakeFirst(),
    db.deleteFrom('known_devices').where('expires_ms', '<=', nowMs).executeTakeFirst(),
    db
      .deleteFrom('sign_in_counters')
      .where('last_ms', '<=', nowMs - attempts_window_ms)
      .where('next_ms', '<=', nowMs)
      .executeTakeFirst(),
  ]);
  return ended.reduce((sum, { numDeletedRows }) => sum + Number(numDeletedRows), 0);
}
