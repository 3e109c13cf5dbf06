import { describeFault, type Log } from '../../platform/log.ts';
import type { Store } from '../../platform/store/index.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import type { Crossed } from './books.ts';
import type { BudgetNews, OverBudget, SpendAsk } from './types.ts';
import { type About, crossingEvent, type Refusing, refusalEvent } from './words.ts';

interface TellerParts {
  readonly store: () => Promise<Store>;
  readonly ports: () => Pick<EnforcementPorts, 'policy' | 'now_ms' | 'new_event_id' | 'record'>;
  readonly log: Pick<Log, 'error'>;
  readonly onBudget?: (news: BudgetNews) => void;
}

/** Writes down what comes of budgets. Never rejects. */
export interface Teller {
  readonly refused: (refusing: Refusing, ask: SpendAsk) => Promise<OverBudget>;
  readonly crossed: (crossed: Crossed, ask: SpendAsk) => Promise<void>;
}

/** A refusal stands whether it can be written down or not; a warning that cannot be is given again later. */
export function openTeller({ store, ports, log, onBudget }: TellerParts): Teller {
  const record = async (
    eventOf: (about: About) => Parameters<EnforcementPorts['record']>[0],
    ask: SpendAsk,
  ) => {
    const { new_event_id, now_ms, policy, record } = ports();
    const now = now_ms();
    const event = eventOf({ event_id: new_event_id(now), now_ms: now, policy_hash: policy.hash, ask });
    try {
      await record(event);
      return event.event_id;
    } catch (fault) {
      log.error('what came of a budget cannot be recorded', describeFault(fault));
      return null;
    }
  };
  return {
    refused: async (refusing, ask) => {
      onBudget?.({ budget: refusing.budget, kind: 'refusal', tenant_id: ask.tenant_id });
      const event_id = await record((about) => refusalEvent(refusing, about), ask);
      return { over: true, ...refusing, event_id };
    },
    crossed: async (crossed, ask) => {
      const { window, level } = crossed;
      const event_id = await record((about) => crossingEvent(crossed, about), ask);
      if (event_id === null) await untell(await store(), crossed).catch(() => {});
      else
        onBudget?.({
          budget: window.share.budget.name,
          kind: level === 2 ? 'exhausted' : 'warning',
          tenant_id: ask.tenant_id,
        });
    },
  };
}

async function untell({ db }: Store, { window, level }: Crossed): Promise<void> {
  await db
    .updateTable('budget_windows')
    .set({ told: level - 1 })
    .where('row_id', '=', window.row_id)
    .where('told', '=', level)
    .execute();
}
