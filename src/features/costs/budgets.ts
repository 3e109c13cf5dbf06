import { randomUUID } from 'node:crypto';
import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import type { Log } from '../../platform/log.ts';
import { type Store, StoreFailure } from '../../platform/store/index.ts';
import { describeStoreFault } from '../../platform/store/lazy.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import { inBatches } from './batches.ts';
import { type Amount, type Booked, type Booking, bookAll, type Refused, type Reserving } from './books.ts';
import { openLate } from './late.ts';
import {
  assumedPrice,
  costAtMost,
  costOf,
  NAME_UNITS_MAX,
  openPrices,
  soundTokens,
  soundUsage,
} from './prices.ts';
import { readSpending } from './spending.ts';
import { allStandings, standingsOf } from './standings.ts';
import { openTeller, type Teller } from './teller.ts';
import type {
  BudgetNews,
  Budgets,
  Cost,
  Costs,
  Price,
  Reservation,
  SpendAsk,
  SpendingRow,
  Spent,
  SpentUsage,
} from './types.ts';
import { gatherSpending } from './unbudgeted.ts';
import { type Budget, budgetsOf, type ModelNames, type Share, sharesOf, windowAt } from './windows.ts';
import { refusalOf, UNKNOWN_MODEL } from './words.ts';

/** What the books need of the world. */
export interface BudgetParts {
  readonly settings: Config['cost'];
  readonly store: () => Promise<Store>;
  readonly ports: () => Pick<EnforcementPorts, 'policy' | 'now_ms' | 'new_event_id' | 'record'>;
  readonly log: Pick<Log, 'error'>;
  /** What a model is sent on as, the first choice first: what an alias and a route stand for. Without it itself. */
  readonly modelsOf?: (model: string | null) => readonly string[];
  /** Told of every call that was paid for, and of what comes of budgets. Must not throw. */
  readonly onSpent?: (spent: Spent) => void;
  readonly onBudget?: (news: BudgetNews) => void;
}

/** Bookings that may wait for the store in one process. */
const WAITING_MAX = 10_000;

/** Opens prices, budgets and books of one process. */
export function openBudgets(parts: BudgetParts): Costs {
  const { settings, store } = parts;
  const gathered = gatherSpending(store, parts.log);
  const budgets = budgetsOf(settings);
  const teller = openTeller(parts);
  const queue = inBatches<Booking, Booked>(
    async (batch) => bookAll(await store(), batch),
    WAITING_MAX,
    () => new StoreFailure('store_busy', 'Too many calls wait to be charged. Try again.'),
  );
  const book: Desk['book'] = async (booking, ask) => {
    const { refused, crossed } = await queue(booking);
    for (const each of crossed) await teller.crossed(each, ask);
    return refused;
  };
  const late = openLate(book, parts.log);
  const desk: Desk = {
    parts,
    budgets,
    book,
    bookLater: late.add,
    gather: gathered.add,
    price: pricer(settings),
    teller,
  };
  const now_ms = () => parts.ports().now_ms();
  return {
    reserve: (ask) => reserve(desk, ask),
    spending: async (filter, by, limit) => {
      await gathered.flush();
      return readSpending(await store(), filter, by, limit);
    },
    standing: async (spender, model) =>
      standingsOf(await store(), sharesOf(budgets, spender, namesOf(parts, model)), now_ms()),
    standings: async (tenant_ids) => allStandings(await store(), budgets, tenant_ids, now_ms()),
    close: async () => {
      await late.close();
      await gathered.close();
    },
  };
}

/** What one call is booked with. */
interface Desk {
  readonly parts: BudgetParts;
  readonly budgets: readonly Budget[];
  readonly book: (booking: Booking, ask: SpendAsk) => Promise<Refused | null>;
  readonly bookLater: (booking: Booking, ask: SpendAsk) => void;
  readonly gather: (line: SpendingRow) => void;
  readonly price: ReturnType<typeof pricer>;
  readonly teller: Teller;
}

function pricer(settings: Config['cost']) {
  const prices = openPrices(settings.prices);
  const assumed = assumedPrice(settings.assumed_usd_per_mtok, settings.assumed_output_tokens);
  return (provider: string | null, models: readonly string[]): { price: Price; is_assumed: boolean } => {
    const found = prices.find(provider, ...models);
    return { price: found ?? assumed, is_assumed: found === null };
  };
}

function namesOf(
  { modelsOf }: BudgetParts,
  model: string | null,
): ModelNames & { readonly sent: readonly string[] } {
  const sent = modelsOf?.(model) ?? [];
  const asked = model === null ? [] : [model];
  return {
    all: [...asked, ...sent],
    counted: sent[0] ?? model ?? '',
    sent: sent.length > 0 ? sent : [model ?? ''],
  };
}

async function reserve(desk: Desk, ask: SpendAsk): ReturnType<Budgets['reserve']> {
  const { settings } = desk.parts;
  const names = namesOf(desk.parts, ask.model);
  const choices = names.sent.map((model) => desk.price(null, [model]));
  if (settings.unknown_models === 'refuse' && choices.some(({ is_assumed }) => is_assumed))
    return desk.teller.refused(UNKNOWN_MODEL, ask);
  const shares = settings.enabled ? sharesOf(desk.budgets, ask, names) : [];
  if (shares.length === 0) return reservation(desk, ask, null);
  const prices = choices.map(({ price }) => price);
  const asked = reserving(ask, shares, amountToReserve(settings, ask, prices), settings);
  try {
    const refused = await desk.book(asked, ask);
    return refused === null
      ? reservation(desk, ask, asked.reservation_id)
      : desk.teller.refused(refusalOf(refused, asked.amount), ask);
  } catch (fault) {
    // Whether it was put aside nobody can tell; if so, it is given back as soon as the store answers.
    desk.bookLater({ ...asked, ...NO_SPENDING }, ask);
    if (shares.some(({ budget }) => budget.enforcement === 'enforce')) throw fault;
    return reservation(desk, ask, null);
  }
}

/** What gives back what was put aside, and books nothing. */
const NO_SPENDING = {
  kind: 'settle',
  windows: [],
  amount: { micro_usd: 0, tokens: 0 },
  spending: null,
} as const;

/** Returns the dearest of the amounts that the call reserves with the models to which it may go. */
function amountToReserve(settings: Config['cost'], ask: SpendAsk, prices: readonly Price[]): Amount {
  const cap = settings.reserve_output_tokens_max ?? Number.POSITIVE_INFINITY;
  const input_tokens = soundTokens(ask.input_tokens);
  const amounts = prices.map((price) => {
    const output = ask.max_output_tokens ?? unlimitedOutput(settings, ask, price);
    const output_tokens = soundTokens(Math.min(output, cap));
    return {
      micro_usd: costAtMost(price, input_tokens, output_tokens, ask.keeps_an_hour),
      tokens: input_tokens + output_tokens,
    };
  });
  return {
    micro_usd: Math.max(...amounts.map(({ micro_usd }) => micro_usd)),
    tokens: Math.max(...amounts.map(({ tokens }) => tokens)),
  };
}

/** Returns the output tokens that a call reserves if it names no limit; what it writes beyond them is charged all the same. */
function unlimitedOutput(settings: Config['cost'], { choices }: SpendAsk, price: Price): number {
  const model_limit = price.max_output_tokens ?? settings.assumed_output_tokens;
  const each =
    settings.reserve_unlimited_calls === 'model_limit'
      ? model_limit
      : Math.min(model_limit, settings.typical_output_tokens);
  return each * Math.max(1, choices ?? 1);
}

function reserving(
  ask: SpendAsk,
  shares: readonly Share[],
  amount: Amount,
  { reservation_ttl }: Config['cost'],
): Reserving {
  const { now_ms } = ask;
  const usage: SpentUsage = {
    input_tokens: soundTokens(ask.input_tokens),
    output_tokens: amount.tokens - soundTokens(ask.input_tokens),
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    provider: '',
    model: ask.model ?? '',
    is_estimated: true,
  };
  return {
    kind: 'reserve',
    reservation_id: randomUUID(),
    windows: shares.map((share) => windowAt(share, now_ms)),
    amount,
    estimate: lineOf(ask, usage, { micro_usd: amount.micro_usd, is_assumed: false }),
    now_ms,
    expires_ms: now_ms + parseDurationMs(reservation_ttl),
  };
}

function reservation(desk: Desk, ask: SpendAsk, reservation_id: string | null): Reservation {
  let settled: Promise<Cost> | null = null;
  return {
    settle: (usage) => {
      settled ??= settle(desk, ask, reservation_id, usage);
      return settled;
    },
  };
}

const NOTHING: Cost = { micro_usd: 0, is_assumed: false };

/** Never rejects: what cannot be booked now is booked later, or counted as it was put aside. */
async function settle(
  desk: Desk,
  ask: SpendAsk,
  reservation_id: string | null,
  said: SpentUsage | null,
): Promise<Cost> {
  const { settings, onSpent } = desk.parts;
  const { now_ms } = ask;
  if (said === null) {
    if (reservation_id !== null) await bookOrLater(desk, { ...NO_SPENDING, reservation_id, now_ms }, ask);
    return NOTHING;
  }
  const usage: SpentUsage = { ...said, ...soundUsage(said) };
  const asked = ask.model === null ? [] : [ask.model];
  const { price, is_assumed } = desk.price(usage.provider, [usage.model, ...asked]);
  const cost: Cost = { micro_usd: costOf(price, usage), is_assumed };
  onSpent?.({ spender: ask, usage, cost });
  if (!settings.enabled) return cost;
  const spending = lineOf(ask, usage, cost);
  // It may have gone to another model than it was put aside for, which has budgets of its own.
  const names = { all: [...asked, usage.model], counted: usage.model };
  const windows = sharesOf(desk.budgets, ask, names).map((share) => windowAt(share, now_ms));
  if (reservation_id === null && windows.length === 0) {
    desk.gather(spending);
    return cost;
  }
  const amount = { micro_usd: cost.micro_usd, tokens: usage.input_tokens + usage.output_tokens };
  await bookOrLater(desk, { kind: 'settle', reservation_id, windows, amount, spending, now_ms }, ask);
  return cost;
}

async function bookOrLater(desk: Desk, booking: Booking, ask: SpendAsk): Promise<void> {
  await desk.book(booking, ask).catch((fault) => {
    desk.parts.log.error('a call cannot be charged yet', describeStoreFault(fault));
    desk.bookLater(booking, ask);
  });
}

function lineOf(ask: SpendAsk, usage: SpentUsage, cost: Cost): SpendingRow {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = usage;
  return {
    day: new Date(ask.now_ms).toISOString().slice(0, 10),
    tenant_id: nameOf(ask.tenant_id),
    agent_id: nameOf(ask.agent_id),
    user_id: nameOf(ask.user_id ?? ''),
    model: nameOf(usage.model),
    provider: nameOf(usage.provider),
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

/** A name as the books keep it: callers choose names, and not every database holds every character. */
function nameOf(written: string): string {
  return written.slice(0, NAME_UNITS_MAX).replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
}
