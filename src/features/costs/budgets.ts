import { randomUUID } from 'node:crypto';
import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import type { Budgets, ChargedUsage, Cost, Reservation, SpendRequest } from '../../operations/model-costs.ts';
import type { Log } from '../../platform/log.ts';
import { type Store, StoreFailure } from '../../platform/store/index.ts';
import { describeStoreFault } from '../../platform/store/lazy.ts';
import type { Config } from '../../runtime/config/index.ts';
import { type FindTaskCostLimits, refuseTaskCosts } from '../../runtime/enforcement/task.ts';
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
import { buildTaskRefusal, buildTaskShare, readTaskCosts } from './task-budgets.ts';
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
  readonly ports: () => Pick<
    EnforcementPorts,
    'policy' | 'now_ms' | 'new_event_id' | 'record' | 'findTaskCostLimits'
  >;
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
  const apply: CostContext['apply'] = async (booking, spendRequest) => {
    const { refusal, thresholds } = await queue(booking);
    for (const each of thresholds) await events.recordThreshold(each, spendRequest);
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
  const nowMs = () => parts.ports().now_ms();
  return {
    counts_usage: settings.enabled,
    reserve: (spendRequest) => reserveSpend(context, spendRequest),
    getBlendedPrice: (provider, model) => {
      const { price, is_assumed } = context.findPrice(provider, [model]);
      return is_assumed ? null : (3 * price.rates.input + price.rates.output) / 4;
    },
    readTaskCosts: async (tasks) => readTaskCosts(await store(), tasks),
    readSpending: async (filter, by, limit) => {
      await gathered.flush();
      return readSpending(await store(), filter, by, limit);
    },
    readStatus: async (spender, model) =>
      readBudgetStatuses(
        await store(),
        findBudgetShares(budgets, spender, resolveModelNames(parts, model)),
        nowMs(),
      ),
    listStatuses: async (tenantIds) => listBudgetStatuses(await store(), budgets, tenantIds, nowMs()),
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
  readonly apply: (booking: LedgerEntry, spendRequest: SpendRequest) => Promise<WindowRefusal | null>;
  readonly retryLater: (booking: LedgerEntry, spendRequest: SpendRequest) => void;
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
  spendRequest: SpendRequest,
): ReturnType<Budgets['reserve']> {
  const { settings } = context.parts;
  const limits = await findTaskLimits(context.parts, spendRequest);
  if ('refusal' in limits)
    return context.events.recordRefusal(buildTaskRefusal(limits.refusal), spendRequest);
  const taskShares = limits.limits.map(buildTaskShare);
  const names = resolveModelNames(context.parts, spendRequest.model);
  const choices = names.sent.map((model) => context.findPrice(null, [model]));
  if (settings.unknown_models === 'refuse' && choices.some(({ is_assumed }) => is_assumed))
    return context.events.recordRefusal(UNKNOWN_MODEL_REFUSAL, spendRequest);
  const shares = [
    ...(settings.enabled ? findBudgetShares(context.budgets, spendRequest, names) : []),
    ...taskShares,
  ];
  if (shares.length === 0) return openReservation(context, spendRequest, null, taskShares);
  const prices = choices.map(({ price }) => price);
  const request = buildReserveEntry(
    spendRequest,
    shares,
    computeReservedAmount(settings, spendRequest, prices),
    settings,
  );
  try {
    const refused = await context.apply(request, spendRequest);
    return refused === null
      ? openReservation(context, spendRequest, request.reservation_id, taskShares)
      : context.events.recordRefusal(buildRefusal(refused, request.amount), spendRequest);
  } catch (fault) {
    // The reservation may or may not exist, so its release is retried until the store answers.
    context.retryLater({ ...request, ...NO_SPENDING }, spendRequest);
    if (shares.some(({ budget }) => budget.enforcement === 'enforce')) throw fault;
    return openReservation(context, spendRequest, null, taskShares);
  }
}

/** Returns the limits of the task that a call names. @throws StoreFailure */
async function findTaskLimits(
  { ports }: BudgetParts,
  { task }: SpendRequest,
): ReturnType<FindTaskCostLimits> {
  if (task === undefined) return { limits: [] };
  const { findTaskCostLimits = refuseTaskCosts } = ports();
  return findTaskCostLimits(task);
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
  spendRequest: SpendRequest,
  prices: readonly Price[],
): Amount {
  const cap = settings.reserve_output_tokens_max ?? Number.POSITIVE_INFINITY;
  const inputTokens = clampTokens(spendRequest.input_tokens);
  const amounts = prices.map((price) => {
    const output = spendRequest.max_output_tokens ?? estimateUnlimitedOutput(settings, spendRequest, price);
    const outputTokens = clampTokens(Math.min(output, cap));
    return {
      micro_usd: computeMaxCost(price, inputTokens, outputTokens, spendRequest.may_cache_1h),
      tokens: inputTokens + outputTokens,
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
  const modelLimit = price.max_output_tokens ?? settings.assumed_output_tokens;
  const each =
    settings.reserve_unlimited_calls === 'model_limit'
      ? modelLimit
      : Math.min(modelLimit, settings.typical_output_tokens);
  return each * Math.max(1, choices ?? 1);
}

function buildReserveEntry(
  spendRequest: SpendRequest,
  shares: readonly BudgetShare[],
  amount: Amount,
  { reservation_ttl }: Config['cost'],
): ReserveEntry {
  const { now_ms } = spendRequest;
  const usage: ChargedUsage = {
    input_tokens: clampTokens(spendRequest.input_tokens),
    output_tokens: amount.tokens - clampTokens(spendRequest.input_tokens),
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    provider: '',
    model: spendRequest.model ?? '',
    is_estimated: true,
  };
  return {
    kind: 'reserve',
    reservation_id: randomUUID(),
    windows: shares.map((share) => computeBudgetWindow(share, now_ms)),
    amount,
    estimate: buildSpendingRow(spendRequest, usage, { micro_usd: amount.micro_usd, is_assumed: false }),
    now_ms,
    expires_ms: now_ms + parseDurationMs(reservation_ttl),
  };
}

function openReservation(
  context: CostContext,
  spendRequest: SpendRequest,
  reservationId: string | null,
  taskShares: readonly BudgetShare[],
): Reservation {
  let settled: Promise<Cost> | null = null;
  return {
    settle: (usage) => {
      settled ??= settleCall(context, spendRequest, { reservation_id: reservationId, taskShares }, usage);
      return settled;
    },
    computeCost: (usage) => computeUsageCost(context, spendRequest, usage),
  };
}

const NO_COST: Cost = { micro_usd: 0, is_assumed: false };

/** Never rejects: an entry that fails is retried, or the reserved amount is charged when it expires. */
async function settleCall(
  context: CostContext,
  spendRequest: SpendRequest,
  {
    reservation_id: reservationId,
    taskShares,
  }: { readonly reservation_id: string | null; readonly taskShares: readonly BudgetShare[] },
  stated: ChargedUsage | null,
): Promise<Cost> {
  const { settings, onCharge } = context.parts;
  const { now_ms } = spendRequest;
  if (stated === null) {
    if (reservationId !== null)
      await applyOrRetry(context, { ...NO_SPENDING, reservation_id: reservationId, now_ms }, spendRequest);
    return NO_COST;
  }
  const usage: ChargedUsage = { ...stated, ...clampUsage(stated) };
  const cost = computeUsageCost(context, spendRequest, usage);
  onCharge?.({ spender: spendRequest, usage, cost });
  if (!settings.enabled && taskShares.length === 0) return cost;
  const spending = buildSpendingRow(spendRequest, usage, cost);
  // The call may have gone to a fallback model, which has its own budgets.
  const request = spendRequest.model === null ? [] : [spendRequest.model];
  const names = { all: [...request, usage.model], counted: usage.model };
  const shares = settings.enabled ? findBudgetShares(context.budgets, spendRequest, names) : [];
  const windows = [...shares, ...taskShares].map((share) => computeBudgetWindow(share, now_ms));
  if (reservationId === null && windows.length === 0) {
    context.buffer(spending);
    return cost;
  }
  const amount = { micro_usd: cost.micro_usd, tokens: usage.input_tokens + usage.output_tokens };
  await applyOrRetry(
    context,
    { kind: 'settle', reservation_id: reservationId, windows, amount, spending, now_ms },
    spendRequest,
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
  spendRequest: SpendRequest,
): Promise<void> {
  await context.apply(booking, spendRequest).catch((fault) => {
    context.parts.log.error('a call cannot be charged yet', describeStoreFault(fault));
    context.retryLater(booking, spendRequest);
  });
}

function buildSpendingRow(spendRequest: SpendRequest, usage: ChargedUsage, cost: Cost): SpendingRow {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = usage;
  return {
    day: new Date(spendRequest.now_ms).toISOString().slice(0, 10),
    tenant_id: sanitizeName(spendRequest.tenant_id),
    agent_id: sanitizeName(spendRequest.agent_id),
    user_id: sanitizeName(spendRequest.user_id ?? ''),
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
