import { lazy } from '../../platform/lazy.ts';
import type { AuditIndex } from './audit-index.ts';

/** Opens the index on first use, because most processes never query it. */
export interface LazyIndex {
  readonly open: () => Promise<AuditIndex>;
  readonly close: () => Promise<void>;
}

/** A connection of this process's own for reading, opened with the first question. */
export function openLazyIndex(path: string): LazyIndex {
  const index = lazy(async () => (await import('./audit-index.ts')).openIndex({ path, read_only: true }));
  return { open: index.open, close: () => index.ifOpened(({ close }) => close()) };
}
