import type { Store } from '../../platform/store/index.ts';
import type { MaintenanceJob } from '../../platform/store/maintenance.ts';

const EVERY_MS = 60_000;
/** The time for which an expired token can still be listed. */
export const EXPIRED_TOKEN_KEPT_MS = 7 * 86_400_000;
const BATCH_MAX = 1_000;

interface Parts {
  readonly store: () => Promise<Store>;
  readonly ports: () => { readonly now_ms: () => number };
}

/** Builds the job that deletes old expired tokens. */
export function buildCapabilityJobs({ store, ports }: Parts): readonly MaintenanceJob[] {
  return [
    {
      name: 'capabilities: forget tokens that have expired',
      every_ms: EVERY_MS,
      run: async () => (await deleteExpiredTokens(await store(), ports().now_ms())) === BATCH_MAX,
    },
  ];
}

/** Deletes a batch of old expired tokens and returns their number. */
export async function deleteExpiredTokens({ db }: Store, nowMs: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('capability_tokens')
    .where(
      'token_id',
      'in',
      db
        .selectFrom('capability_tokens')
        .select('token_id')
        .where('expires_ms', '<', nowMs - EXPIRED_TOKEN_KEPT_MS)
        .limit(BATCH_MAX),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
