import { createLazyValue } from '../../platform/lazy.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { Metrics } from '../../runtime/observability/metrics.ts';
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

/** The parts of the process that prices and budgets need. */
interface Process {
  readonly config: Config;
  readonly store: { readonly open: BudgetParts['store'] };
  readonly metrics: Metrics | null;
  readonly log: BudgetParts['log'];
}

/** Prepares the costs of a configuration without loading the price table, so that it delays no start. */
export function openLazyCosts(
  { config, store, metrics, log }: Process,
  ports: BudgetParts['ports'],
): LazyCosts {
  const parts: BudgetParts = {
    settings: config.cost,
    store: store.open,
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
