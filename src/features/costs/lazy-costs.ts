import type { FeatureParts } from '../../operations/feature.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import type { BudgetParts } from './budgets.ts';
import { openModelResolver } from './model-resolver.ts';
import type { Costs } from './types.ts';

/** The prices and the ledger of a process that may never call a model. */
export interface LazyCosts {
  /** Opens them on the first call. */
  readonly open: () => Promise<Costs>;
  /** Flushes pending entries if the ledger was opened. */
  readonly close: () => Promise<void>;
}

/** Prepares the costs of a configuration without loading the price table, so that it delays no start. */
export function openLazyCosts({ config, store, metrics, log, ports }: FeatureParts): LazyCosts {
  const parts: BudgetParts = {
    settings: config.cost,
    store,
    ports,
    log,
    resolveModels: openModelResolver(config.proxy),
    onCharge: ({ usage, cost: { micro_usd } }) =>
      metrics?.calls.spent(usage.provider, usage.model, usage, micro_usd),
    onBudgetNotice: ({ budget, kind }) =>
      metrics?.calls.budget(budget, kind === 'refusal' ? 'refusal' : 'warning'),
  };
  const costs = createLazyValue(async () => (await import('./budgets.ts')).openBudgets(parts));
  return { open: costs.open, close: () => costs.ifOpened(({ close }) => close()) };
}
