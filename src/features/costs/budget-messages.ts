import type { BudgetDenial, SpendRequest } from '../../operations/model-costs.ts';
import { buildServiceEvent, hashContext } from '../../runtime/audit/service-event.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { Amount, ReachedThreshold, WindowRefusal } from './ledger.ts';
import type { Budget } from './windows.ts';

/** The context that every budget event contains. */
export interface BudgetEventContext {
  readonly event_id: string;
  readonly now_ms: number;
  readonly policy_hash: string;
  readonly spend_request: Pick<SpendRequest, 'tenant_id' | 'agent_id' | 'session_id' | 'model' | 'caller_id'>;
}

/** A refusal before it is recorded in the audit log. */
export interface BudgetRefusal extends Omit<BudgetDenial, 'over' | 'event_id'> {
  /** The rule's name in the event: `budget.daily`. */
  readonly rule: string;
}

/** Builds the refusal of a call that may cost `requested` against a budget. */
export function buildRefusal(refused: WindowRefusal, requested: Amount): BudgetRefusal {
  const { cause, window } = refused;
  return {
    cause,
    budget: window.share.budget.name,
    rule: window.share.budget.rule,
    reason: buildReason(refused, requested),
    resets_at_ms: window.resets_at_ms,
  };
}

function buildReason({ window, cause, used }: WindowRefusal, requested: Amount): string {
  const { budget } = window.share;
  const { label } = budget;
  const again = window.resets_at_ms === null ? '' : `; ${describeReset(budget, window.resets_at_ms)}`;
  const limits = formatLimits(budget, used);
  if (cause === 'exhausted') return `${label} is used up: ${limits.used} are spent or reserved${again}.`;
  const may = formatLimits(budget, requested).amount;
  return `${label} has ${limits.left} left, and this call may cost ${may}: request fewer tokens${again}.`;
}

/** The refusal of a call to a model without a known price, if `cost.unknown_models` is `refuse`. */
export const UNKNOWN_MODEL_REFUSAL: BudgetRefusal = {
  cause: 'unknown_model',
  budget: 'unknown_models',
  rule: 'budget.unknown_models',
  reason: 'The model has no price, and calls to such models are refused. Give it a price in `cost.prices`.',
  resets_at_ms: null,
};

function describeReset({ period }: Budget, resetsAtMs: number): string {
  const at = new Date(resetsAtMs).toISOString();
  return /^\d/.test(period)
    ? `the budget recovers in steps, the next at ${at}`
    : `the next period starts at ${at}`;
}

/** Formats an amount in the units that the budget limits: dollars, tokens, or both. */
function formatLimits(budget: Budget, { micro_usd, tokens }: Amount) {
  const { limit_micro_usd, limit_tokens } = budget;
  const both = [
    limit_micro_usd === null ? null : ([formatUsd, limit_micro_usd, micro_usd] as const),
    limit_tokens === null ? null : ([formatTokens, limit_tokens, tokens] as const),
  ].filter((each) => each !== null);
  const joined = (part: (each: (typeof both)[number]) => string) => both.map(part).join(' and ');
  return {
    used: joined(([say, limit, amount]) => `${say(amount)} of ${say(limit)}`),
    left: joined(([say, limit, amount]) => say(Math.max(0, limit - amount))),
    amount: joined(([say, , amount]) => say(amount)),
  };
}

function formatTokens(tokens: number): string {
  return `${tokens} tokens`;
}

/** Formats dollars as `$1.50`, with as many decimals as an amount below one cent needs. */
export function formatUsd(microUsd: number): string {
  const [whole = '0', parts = ''] = (microUsd / 1_000_000).toFixed(6).split('.');
  return `$${whole}.${parts.replace(/0{1,4}$/, '')}`;
}

/** Builds the audit event of a call that a budget refused. */
export function buildRefusalEvent(over: BudgetRefusal, about: BudgetEventContext): AuditEvent {
  return buildBudgetEvent(over.rule, 'block', over.reason, 'budget', { budget_cause: over.cause }, about);
}

/** Builds the audit event of a budget that is nearly or fully used. */
export function buildThresholdEvent(
  { window, level, used }: ReachedThreshold,
  about: BudgetEventContext,
): AuditEvent {
  const { budget, scope } = window.share;
  const word = level === 2 ? 'used up' : 'nearly used up';
  const reason = `${budget.label} is ${word}: ${formatLimits(budget, used).used} are spent.`;
  return buildBudgetEvent(
    budget.rule,
    'flag',
    reason,
    level === 2 ? 'budget_reached' : 'budget_warning',
    {
      budget_enforcement: budget.enforcement,
      budget_period: budget.period,
      budget_scope: Object.entries(scope).map(([field, value]) => `${field}=${value}`),
      ...(budget.limit_micro_usd !== null && {
        budget_limit_micro_usd: budget.limit_micro_usd,
        budget_spent_micro_usd: used.micro_usd,
      }),
      ...(budget.limit_tokens !== null && {
        budget_limit_tokens: budget.limit_tokens,
        budget_spent_tokens: used.tokens,
      }),
    },
    about,
  );
}

function buildBudgetEvent(
  rule: string,
  action: 'block' | 'flag',
  reason: string,
  phase: string,
  metadata: AuditEvent['metadata'],
  { event_id, now_ms, policy_hash, spend_request: ask }: BudgetEventContext,
): AuditEvent {
  const event = buildServiceEvent({
    event_id,
    now_ms,
    phase,
    done: action !== 'block',
    reason,
    caller_id: ask.caller_id ?? 'unknown',
    policy_hash,
    about: { tenant_id: ask.tenant_id, agent_id: ask.agent_id, session_id: ask.session_id },
    metadata: { ...metadata, ...(ask.model !== null && { model: ask.model.slice(0, MODEL_MAX) }) },
  });
  const named = { ...event, action, policy_name: rule };
  return { ...named, context_hash: hashContext(named) };
}

/** The length to which an event cuts a model name, in UTF-16 units. */
const MODEL_MAX = 256;
