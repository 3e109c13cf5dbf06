/** Budgets on real stores, for tests. */

import type {
  BudgetDenial,
  ChargedUsage,
  Reservation,
  SpendRequest,
} from '../../../operations/model-costs.ts';
import type { Store } from '../../../platform/store/index.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import type { Config } from '../../../runtime/config/index.ts';
import { parseConfigValue } from '../../../runtime/config/parse-config-value.ts';
import { buildExamplePorts } from '../../../server/testing/examples.ts';
import { type BudgetParts, openBudgets } from '../budgets.ts';
import { costSection } from '../settings.ts';
import type { BudgetNotice, ChargedCall, Costs } from '../types.ts';

/** Noon UTC on a Saturday. */
export const TEST_NOW_MS = Date.UTC(2026, 10, 21, 12);

/** Parses the section `cost` with the parser of the configuration. */
export function parseCostSettings(written: object): Config['cost'] {
  const { value, problems } = parseConfigValue(written, costSection.schema, {
    env: {},
    secrets: new Map(),
  });
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return value as Config['cost'];
}

/** One dollar per million input tokens and ten per million output tokens, so that sums are easy to check. */
export const TEST_PRICES = [{ model: 'toy', usd_per_mtok: { input: 1, output: 10 }, max_output_tokens: 100 }];

export interface TestCosts {
  readonly costs: Costs;
  readonly events: AuditEvent[];
  readonly charges: ChargedCall[];
  readonly notices: BudgetNotice[];
  readonly faults: string[];
}

export function openTestCosts(
  store: () => Promise<Store>,
  written: object,
  more: Partial<BudgetParts> = {},
): TestCosts {
  const events: AuditEvent[] = [];
  const charges: ChargedCall[] = [];
  const notices: BudgetNotice[] = [];
  const faults: string[] = [];
  const own = buildExamplePorts(events, { now_ms: () => TEST_NOW_MS });
  const costs = openBudgets({
    settings: parseCostSettings({ prices: TEST_PRICES, ...written }),
    store,
    ports: () => own,
    log: { error: (message) => void faults.push(message) },
    onCharge: (each) => void charges.push(each),
    onBudgetNotice: (each) => void notices.push(each),
    ...more,
  });
  return { costs, events, charges, notices, faults };
}

/**
 * Builds a call of the agent `a` for the user `ann` with ten input tokens and at most ten output tokens: 110 millionths
 * of a dollar.
 */
export function buildSpendRequest(parts: Partial<SpendRequest> = {}): SpendRequest {
  return {
    tenant_id: 'default',
    agent_id: 'a',
    session_id: 's',
    user_id: 'ann',
    model: 'toy',
    input_tokens: 10,
    max_output_tokens: 10,
    now_ms: TEST_NOW_MS,
    ...parts,
  };
}

/** Builds the usage of that call: all tokens, unless `parts` changes them. */
export function buildUsage(parts: Partial<ChargedUsage> = {}): ChargedUsage {
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

/** Reserves an amount, and fails if the budget refuses. */
export async function reserveBudget(costs: Costs, parts: Partial<SpendRequest> = {}): Promise<Reservation> {
  const answer = await costs.reserve(buildSpendRequest(parts));
  if ('over' in answer) throw new Error(answer.reason);
  return answer;
}

/** Requests an amount, and fails unless the budget refuses. */
export async function expectRefusal(costs: Costs, parts: Partial<SpendRequest> = {}): Promise<BudgetDenial> {
  const answer = await costs.reserve(buildSpendRequest(parts));
  if ('over' in answer) return answer;
  throw new Error('it was put aside');
}

/** Reserves an amount and settles it. */
export async function reserveAndSettle(
  costs: Costs,
  parts: Partial<SpendRequest> = {},
  stated: Partial<ChargedUsage> = {},
) {
  return (await reserveBudget(costs, parts)).settle(buildUsage(stated));
}
