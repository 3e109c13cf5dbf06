import type { AuditIndex } from './store.ts';

/** The audit index, opened when somebody asks it. */
export interface LazyIndex {
  readonly open: () => Promise<AuditIndex>;
  readonly close: () => Promise<void>;
}

/** A connection of this process's own for reading, opened with the first question. */
export function lazyIndex(path: string): LazyIndex {
  let opened: Promise<AuditIndex> | null = null;
  return {
    open: () => {
      opened ??= import('./store.ts').then(({ openIndex }) => openIndex({ path, read_only: true }));
      opened.catch(() => {
        opened = null;
      });
      return opened;
    },
    close: async () => {
      await (await opened?.catch(() => null))?.close();
    },
  };
}
