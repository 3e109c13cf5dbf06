import { randomUUID } from 'node:crypto';
import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import type { Budgets, ChargedUsage, Cost, Reservation, SpendRequest } from '../../operations/model-costs.ts';
import type { Log } from '../../platform/log.ts';
import { type Store, StoreFailure } from '../../platform/store/index.ts';
import { describeStoreFault } from '../../platform/store/lazy.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import { openBatchQueue } from './batch-queue.ts';
import { type BudgetEvents, openBudgetEvents } from './budget-events.ts';
import { buildRefusal, UNKNOWN_MODEL_REFUSAL } from './budget-messages.ts';
import { listBudgetStatuses, readBudgetStatuses } from './budget-status.ts';
import {
  type Amount,
  applyLedgerEntries,
  type LedgerEntry,
  type LedgerResult,
  type ReserveEntry,
  type WindowRefusal,
} from './ledger.ts';
import { openLedgerRetryQueue } from './ledger-retry-queue.ts';
import {
  buildAssumedPrice,
  clampTokens,
  clampUsage,
  computeCost,
  computeMaxCost,
  MODEL_NAME_UNITS_MAX,
  openPriceList,
} from './prices.ts';
import { readSpending } from './spending.ts';
import { openSpendingBuffer } from './spending-buffer.ts';
import type { BudgetNotice, ChargedCall, Costs, Price, SpendingRow } from './types.ts';
import {
  type Budget,
  type BudgetShare,
  computeBudgetWindow,
  findBudgetShares,
  type ModelNames,
  parseBudgets,
} from './windows.ts';

/** The dependencies of the ledger. */
export interface BudgetParts {
  readonly settings: Config['cost'];
  readonly store: () => Promise<Store>;
  readonly ports: () => Pick<EnforcementPorts, 'policy' | 'now_ms' | 'new_event_id' | 'record'>;
  readonly log: Pick<Log, 'error'>;
  /** Returns the models that an alias or a route stands for, first choice first; by default the model itself. */
  readonly resolveModels?: (model: string | null) => readonly string[];
  /** Called for each charged call and for each budget notice. Must not throw. */
  readonly onCharge?: (spent: ChargedCall) => void;
  readonly onBudgetNotice?: (news: BudgetNotice) => void;
}

/** The number of entries that may wait for the store in one process. */
const WAITING_MAX = 10_000;

/** Opens the prices, budgets and ledger of one process. */
export function openBudgets(parts: BudgetParts): Costs {
  const { settings, store } = parts;
  const gathered = openSpendingBuffer(store, parts.log);
  const budgets = parseBudgets(settings);
  const events = openBudgetEvents(parts);
  const queue = openBatchQueue<LedgerEntry, LedgerResult>(
    async (batch) => applyLedgerEntries(await store(), batch),
    WAITING_MAX,
    () => new StoreFailure('store_busy', 'Too many calls wait to be charged. Try again.'),
  );
  const apply: CostContext['apply'] = async (booking, spend_request) => {
    const { refusal, thresholds } = await queue(booking);
    for (const each of thresholds) await events.recordThreshold(each, spend_request);
    return refusal;
  };
  const late = openLedgerRetryQueue(apply, parts.log);
  const context: CostContext = {
    parts,
    budgets,
    apply,
    retryLater: late.add,
    buffer: gathered.add,
    findPrice: openPriceFinder(settings),
    events,
  };
  const now_ms = () => parts.ports().now_ms();
  return {
    reserve: (spend_request) => reserveSpend(context, spend_request),
    getBlendedPrice: (provider, model) => {
      const { price, is_assumed } = context.findPrice(provider, [model]);
      return is_assumed ? null : (3 * price.rates.input + price.rates.output) / 4;
    },
    readSpending: async (filter, by, limit) => {
      await gathered.flush();
      return readSpending(await store(), filter, by, limit);
    },
    readStatus: async (spender, model) =>
      readBudgetStatuses(
        await store(),
        findBudgetShares(budgets, spender, resolveModelNames(parts, model)),
        now_ms(),
      ),
    listStatuses: async (tenant_ids) => listBudgetStatuses(await store(), budgets, tenant_ids, now_ms()),
    close: async () => {
      await late.close();
      await gathered.close();
    },
  };
}

/** The state that charging a call needs. */
interface CostContext {
  readonly parts: BudgetParts;
  readonly budgets: readonly Budget[];
  readonly apply: (booking: LedgerEntry, spend_request: SpendRequest) => Promise<WindowRefusal | null>;
  readonly retryLater: (booking: LedgerEntry, spend_request: SpendRequest) => void;
  readonly buffer: (line: SpendingRow) => void;
  readonly findPrice: ReturnType<typeof openPriceFinder>;
  readonly events: BudgetEvents;
}

function openPriceFinder(settings: Config['cost']) {
  const prices = openPriceList(settings.prices);
  const assumed = buildAssumedPrice(settings.assumed_usd_per_mtok, settings.assumed_output_tokens);
  return (provider: string | null, models: readonly string[]): { price: Price; is_assumed: boolean } => {
    const found = prices.find(provider, ...models);
    return { price: found ?? assumed, is_assumed: found === null };
  };
}

function resolveModelNames(
  { resolveModels }: BudgetParts,
  model: string | null,
): ModelNames & { readonly sent: readonly string[] } {
  const sent = resolveModels?.(model) ?? [];
  const request = model === null ? [] : [model];
  return {
    all: [...request, ...sent],
    counted: sent[0] ?? model ?? '',
    sent: sent.length > 0 ? sent : [model ?? ''],
  };
}

async function reserveSpend(
  context: CostContext,
  spend_request: SpendRequest,
): ReturnType<Budgets['reserve']> {
  const { settings } = context.parts;
  const names = resolveModelNames(context.parts, spend_request.model);
  const choices = names.sent.map((model) => context.findPrice(null, [model]));
  if (settings.unknown_models === 'refuse' && choices.some(({ is_assumed }) => is_assumed))
    return context.events.recordRefusal(UNKNOWN_MODEL_REFUSAL, spend_request);
  const shares = settings.enabled ? findBudgetShares(context.budgets, spend_request, names) : [];
  if (shares.length === 0) return openReservation(context, spend_request, null);
  const prices = choices.map(({ price }) => price);
  const request = buildReserveEntry(
    spend_request,
    shares,
    computeReservedAmount(settings, spend_request, prices),
    settings,
  );
  try {
    const refused = await context.apply(request, spend_request);
    return refused === null
      ? openReservation(context, spend_request, request.reservation_id)
      : context.events.recordRefusal(buildRefusal(refused, request.amount), spend_request);
  } catch (fault) {
    // The reservation may or may not exist, so its release is retried until the store answers.
    context.retryLater({ ...request, ...NO_SPENDING }, spend_request);
    if (shares.some(({ budget }) => budget.enforcement === 'enforce')) throw fault;
    return openReservation(context, spend_request, null);
  }
}

/** Releases a reservation without a charge. */
const NO_SPENDING = {
  kind: 'settle',
  windows: [],
  amount: { micro_usd: 0, tokens: 0 },
  spending: null,
} as const;

/** Returns the highest amount that the call reserves over all models to which it may go. */
function computeReservedAmount(
  settings: Config['cost'],
  spend_request: SpendRequest,
  prices: readonly Price[],
): Amount {
  const cap = settings.reserve_output_tokens_max ?? Number.POSITIVE_INFINITY;
  const input_tokens = clampTokens(spend_request.input_tokens);
  const amounts = prices.map((price) => {
    const output = spend_request.max_output_tokens ?? estimateUnlimitedOutput(settings, spend_request, price);
    const output_tokens = clampTokens(Math.min(output, cap));
    return {
      micro_usd: computeMaxCost(price, input_tokens, output_tokens, spend_request.may_cache_1h),
      tokens: input_tokens + output_tokens,
    };
  });
  return {
    micro_usd: Math.max(...amounts.map(({ micro_usd }) => micro_usd)),
    tokens: Math.max(...amounts.map(({ tokens }) => tokens)),
  };
}

/**
 * Returns the output tokens that a call reserves if it names no limit; what it writes beyond them is charged all the
 * same.
 */
function estimateUnlimitedOutput(settings: Config['cost'], { choices }: SpendRequest, price: Price): number {
  const model_limit = price.max_output_tokens ?? settings.assumed_output_tokens;
  const each =
    settings.reserve_unlimited_calls === 'model_limit'
      ? model_limit
      : Math.min(model_limit, settings.typical_output_tokens);
  return each * Math.max(1, choices ?? 1);
}

function buildReserveEntry(
  spend_request: SpendRequest,
  shares: readonly BudgetShare[],
  amount: Amount,
  { reservation_ttl }: Config['cost'],
): ReserveEntry {
  const { now_ms } = spend_request;
  const usage: ChargedUsage = {
    input_tokens: clampTokens(spend_request.input_tokens),
    output_tokens: amount.tokens - clampTokens(spend_request.input_tokens),
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    provider: '',
    model: spend_request.model ?? '',
    is_estimated: true,
  };
  return {
    kind: 'reserve',
    reservation_id: randomUUID(),
    windows: shares.map((share) => computeBudgetWindow(share, now_ms)),
    amount,
    estimate: buildSpendingRow(spend_request, usage, { micro_usd: amount.micro_usd, is_assumed: false }),
    now_ms,
    expires_ms: now_ms + parseDurationMs(reservation_ttl),
  };
}

function openReservation(
  context: CostContext,
  spend_request: SpendRequest,
  reservation_id: string | null,
): Reservation {
  let settled: Promise<Cost> | null = null;
  return {
    settle: (usage) => {
      settled ??= settleCall(context, spend_request, reservation_id, usage);
      return settled;
    },
    computeCost: (usage) => computeUsageCost(context, spend_request, usage),
  };
}

const NO_COST: Cost = { micro_usd: 0, is_assumed: false };

/** Never rejects: an entry that fails is retried, or the reserved amount is charged when it expires. */
async function settleCall(
  context: CostContext,
  spend_request: SpendRequest,
  reservation_id: string | null,
  stated: ChargedUsage | null,
): Promise<Cost> {
  const { settings, onCharge } = context.parts;
  const { now_ms } = spend_request;
  if (stated === null) {
    if (reservation_id !== null)
      await applyOrRetry(context, { ...NO_SPENDING, reservation_id, now_ms }, spend_request);
    return NO_COST;
  }
  const usage: ChargedUsage = { ...stated, ...clampUsage(stated) };
  const cost = computeUsageCost(context, spend_request, usage);
  onCharge?.({ spender: spend_request, usage, cost });
  if (!settings.enabled) return cost;
  const spending = buildSpendingRow(spend_request, usage, cost);
  // The call may have gone to a fallback model, which has its own budgets.
  const request = spend_request.model === null ? [] : [spend_request.model];
  const names = { all: [...request, usage.model], counted: usage.model };
  const windows = findBudgetShares(context.budgets, spend_request, names).map((share) =>
    computeBudgetWindow(share, now_ms),
  );
  if (reservation_id === null && windows.length === 0) {
    context.buffer(spending);
    return cost;
  }
  const amount = { micro_usd: cost.micro_usd, tokens: usage.input_tokens + usage.output_tokens };
  await applyOrRetry(
    context,
    { kind: 'settle', reservation_id, windows, amount, spending, now_ms },
    spend_request,
  );
  return cost;
}

function computeUsageCost(context: CostContext, { model }: SpendRequest, stated: ChargedUsage): Cost {
  const usage = clampUsage(stated);
  const names = model === null ? [stated.model] : [stated.model, model];
  const { price, is_assumed } = context.findPrice(stated.provider, names);
  return { micro_usd: computeCost(price, usage), is_assumed };
}

async function applyOrRetry(
  context: CostContext,
  booking: LedgerEntry,
  spend_request: SpendRequest,
): Promise<void> {
  await context.apply(booking, spend_request).catch((fault) => {
    context.parts.log.error('a call cannot be charged yet', describeStoreFault(fault));
    context.retryLater(booking, spend_request);
  });
}

function buildSpendingRow(spend_request: SpendRequest, usage: ChargedUsage, cost: Cost): SpendingRow {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = usage;
  return {
    day: new Date(spend_request.now_ms).toISOString().slice(0, 10),
    tenant_id: sanitizeName(spend_request.tenant_id),
    agent_id: sanitizeName(spend_request.agent_id),
    user_id: sanitizeName(spend_request.user_id ?? ''),
    model: sanitizeName(usage.model),
    provider: sanitizeName(usage.provider),
    calls: 1,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    micro_usd: cost.micro_usd,
    estimated_calls: usage.is_estimated ? 1 : 0,
    assumed_calls: cost.is_assumed ? 1 : 0,
  };
}

/** Returns a name that every database can store. Callers choose names freely. */
function sanitizeName(written: string): string {
  return written.slice(0, MODEL_NAME_UNITS_MAX).replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
}
