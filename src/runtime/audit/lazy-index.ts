import { createLazyValue } from '../../platform/lazy.ts';
import type { AuditIndex } from './audit-index.ts';

/** The audit index, opened on first use. */
export interface LazyIndex {
  readonly open: () => Promise<AuditIndex>;
  readonly close: () => Promise<void>;
}

/** Opens a read-only connection of this process to the index, on the first query. */
export function openLazyIndex(path: string): LazyIndex {
  const index = createLazyValue(async () =>
    (await import('./audit-index.ts')).openIndex({ path, read_only: true }),
  );
  return { open: index.open, close: () => index.ifOpened(({ close }) => close()) };
}
