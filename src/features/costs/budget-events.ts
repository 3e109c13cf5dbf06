import type { BudgetDenial, SpendRequest } from '../../operations/model-costs.ts';
import { describeFault, type Log } from '../../platform/log.ts';
import type { Store } from '../../platform/store/index.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import {
  type BudgetEventContext,
  type BudgetRefusal,
  buildRefusalEvent,
  buildThresholdEvent,
} from './budget-messages.ts';
import type { ReachedThreshold } from './ledger.ts';
import type { BudgetNotice } from './types.ts';

interface BudgetEventParts {
  readonly store: () => Promise<Store>;
  readonly ports: () => Pick<EnforcementPorts, 'policy' | 'now_ms' | 'new_event_id' | 'record'>;
  readonly log: Pick<Log, 'error'>;
  readonly onBudgetNotice?: (news: BudgetNotice) => void;
}

/** Records budget refusals and reached thresholds in the audit log. Never rejects. */
export interface BudgetEvents {
  readonly recordRefusal: (refusing: BudgetRefusal, spendRequest: SpendRequest) => Promise<BudgetDenial>;
  readonly recordThreshold: (crossed: ReachedThreshold, spendRequest: SpendRequest) => Promise<void>;
}

/**
 * Opens the recorder. A refusal takes effect even if it cannot be recorded. A warning that cannot be recorded is
 * repeated later.
 */
export function openBudgetEvents({ store, ports, log, onBudgetNotice }: BudgetEventParts): BudgetEvents {
  const record = async (
    eventOf: (about: BudgetEventContext) => Parameters<EnforcementPorts['record']>[0],
    spendRequest: SpendRequest,
  ) => {
    const { new_event_id, now_ms, policy, record } = ports();
    const now = now_ms();
    const event = eventOf({
      event_id: new_event_id(now),
      now_ms: now,
      policy_hash: policy.hash,
      spend_request: spendRequest,
    });
    try {
      await record(event);
      return event.event_id;
    } catch (fault) {
      log.error('what came of a budget cannot be recorded', describeFault(fault));
      return null;
    }
  };
  return {
    recordRefusal: async (refusing, spendRequest) => {
      onBudgetNotice?.({ budget: refusing.budget, kind: 'refusal', tenant_id: spendRequest.tenant_id });
      const eventId = await record((about) => buildRefusalEvent(refusing, about), spendRequest);
      const { rule: _rule, ...refusal } = refusing;
      return { over: true, ...refusal, event_id: eventId };
    },
    recordThreshold: async (crossed, spendRequest) => {
      const { window, level } = crossed;
      const eventId = await record((about) => buildThresholdEvent(crossed, about), spendRequest);
      if (eventId === null) await resetThreshold(await store(), crossed).catch(() => {});
      else
        onBudgetNotice?.({
          budget: window.share.budget.name,
          kind: level === 2 ? 'exhausted' : 'warning',
          tenant_id: spendRequest.tenant_id,
        });
    },
  };
}

async function resetThreshold({ db }: Store, { window, level }: ReachedThreshold): Promise<void> {
  await db
    .updateTable('budget_windows')
    .set({ reported_level: level - 1 })
    .where('row_id', '=', window.row_id)
    .where('reported_level', '=', level)
    .execute();
}
