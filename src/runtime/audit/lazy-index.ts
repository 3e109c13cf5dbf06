import { createLazyValue } from '../../platform/lazy.ts';
import type { AuditIndex, IndexAddress } from './audit-index.ts';
import { AuditFailure } from './failure.ts';

/** The audit index, opened on first use. */
export interface LazyIndex {
  readonly open: () => Promise<AuditIndex>;
  readonly close: () => Promise<void>;
}

/** Says that a service has no audit index, and how to get one. */
export const INDEX_OFF =
  'There is no index of the audit log: `audit.index` is `off`. Set it to `sqlite` or `postgres` and restart the service.';

/** Opens a read-only connection of this process to the index, on the first query. `readAddress` returns `null` for a service without one. */
export function openLazyIndex(readAddress: () => IndexAddress | null): LazyIndex {
  const index = createLazyValue(async () => {
    const address = readAddress();
    if (address === null) throw new AuditFailure('index_off', INDEX_OFF);
    return (await import('./open-index.ts')).openIndex({ ...address, read_only: true });
  });
  return { open: index.open, close: () => index.ifOpened(({ close }) => close()) };
}
