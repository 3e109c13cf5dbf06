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
  readonly recordRefusal: (refusing: BudgetRefusal, spend_request: SpendRequest) => Promise<BudgetDenial>;
  readonly recordThreshold: (crossed: ReachedThreshold, spend_request: SpendRequest) => Promise<void>;
}

/**
 * Opens the recorder. A refusal takes effect even if it cannot be recorded. A warning that cannot be recorded is
 * repeated later.
 */
export function openBudgetEvents({ store, ports, log, onBudgetNotice }: BudgetEventParts): BudgetEvents {
  const record = async (
    eventOf: (about: BudgetEventContext) => Parameters<EnforcementPorts['record']>[0],
    spend_request: SpendRequest,
  ) => {
    const { new_event_id, now_ms, policy, record } = ports();
    const now = now_ms();
    const event = eventOf({
      event_id: new_event_id(now),
      now_ms: now,
      policy_hash: policy.hash,
      spend_request,
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
    recordRefusal: async (refusing, spend_request) => {
      onBudgetNotice?.({ budget: refusing.budget, kind: 'refusal', tenant_id: spend_request.tenant_id });
      const event_id = await record((about) => buildRefusalEvent(refusing, about), spend_request);
      return { over: true, ...refusing, event_id };
    },
    recordThreshold: async (crossed, spend_request) => {
      const { window, level } = crossed;
      const event_id = await record((about) => buildThresholdEvent(crossed, about), spend_request);
      if (event_id === null) await resetThreshold(await store(), crossed).catch(() => {});
      else
        onBudgetNotice?.({
          budget: window.share.budget.name,
          kind: level === 2 ? 'exhausted' : 'warning',
          tenant_id: spend_request.tenant_id,
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
