/** Budgets on real stores, for the laws. */

import type { Store } from '../../../platform/store/index.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import type { Config } from '../../../runtime/config/index.ts';
import { configSchema } from '../../../runtime/config/schema.ts';
import { settle } from '../../../runtime/config/settle.ts';
import { ports } from '../../../server/testing/examples.ts';
import { type BudgetParts, openBudgets } from '../budgets.ts';
import type { BudgetNews, Costs, OverBudget, Reservation, SpendAsk, Spent, SpentUsage } from '../types.ts';

/** A Saturday, at noon UTC. */
export const NOW = Date.UTC(2026, 10, 21, 12);

/** The section `cost` as the configuration's own reader settles it. */
export function costSettings(written: object): Config['cost'] {
  const { value, problems } = settle({ cost: written }, configSchema, { env: {}, secrets: new Map() });
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return (value as { cost: Config['cost'] }).cost;
}

/** A dollar for a token in, ten for one out: sums that can be done in the head. */
export const PRICES = [{ model: 'toy', usd_per_mtok: { input: 1, output: 10 }, max_output_tokens: 100 }];

export interface Books {
  readonly costs: Costs;
  readonly events: AuditEvent[];
  readonly spent: Spent[];
  readonly news: BudgetNews[];
  readonly faults: string[];
}

export function openBooks(
  store: () => Promise<Store>,
  written: object,
  more: Partial<BudgetParts> = {},
): Books {
  const events: AuditEvent[] = [];
  const spent: Spent[] = [];
  const news: BudgetNews[] = [];
  const faults: string[] = [];
  const own = ports(events, { now_ms: () => NOW });
  const costs = openBudgets({
    settings: costSettings({ prices: PRICES, ...written }),
    store,
    ports: () => own,
    log: { error: (message) => void faults.push(message) },
    onSpent: (each) => void spent.push(each),
    onBudget: (each) => void news.push(each),
    ...more,
  });
  return { costs, events, spent, news, faults };
}

/** A call of the agent `a` for the user `ann`, of ten tokens in and ten out at most: 110 millionths of a dollar. */
export function ask(parts: Partial<SpendAsk> = {}): SpendAsk {
  return {
    tenant_id: 'default',
    agent_id: 'a',
    session_id: 's',
    user_id: 'ann',
    model: 'toy',
    input_tokens: 10,
    max_output_tokens: 10,
    now_ms: NOW,
    ...parts,
  };
}

/** What that call came to: all of it, unless said otherwise. */
export function usage(parts: Partial<SpentUsage> = {}): SpentUsage {
  return {
    provider: 'p',
    model: 'toy',
    input_tokens: 10,
    output_tokens: 10,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    is_estimated: false,
    ...parts,
  };
}

/** Puts money aside that must be there. */
export async function held(costs: Costs, parts: Partial<SpendAsk> = {}): Promise<Reservation> {
  const answer = await costs.reserve(ask(parts));
  if ('over' in answer) throw new Error(answer.reason);
  return answer;
}

/** Asks for money that must not be there. */
export async function refused(costs: Costs, parts: Partial<SpendAsk> = {}): Promise<OverBudget> {
  const answer = await costs.reserve(ask(parts));
  if ('over' in answer) return answer;
  throw new Error('it was put aside');
}

/** Puts aside and settles. */
export async function spend(costs: Costs, parts: Partial<SpendAsk> = {}, said: Partial<SpentUsage> = {}) {
  return (await held(costs, parts)).settle(usage(said));
}
