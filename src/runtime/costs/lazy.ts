import type { BudgetParts } from './budgets.ts';
import type { Costs } from './types.ts';

/** Prices and books of a process that may never call a model. */
export interface LazyCosts {
  /** Loaded and opened with the first question. */
  readonly open: () => Promise<Costs>;
  /** Writes down what is not yet, where they were opened. */
  readonly close: () => Promise<void>;
}

/** No start waits for the price table. */
export function lazyCosts(parts: BudgetParts): LazyCosts {
  let opened: Promise<Costs> | null = null;
  return {
    open: () => {
      opened ??= import('./budgets.ts').then(({ openBudgets }) => openBudgets(parts));
      return opened;
    },
    close: async () => (await opened)?.close(),
  };
}
