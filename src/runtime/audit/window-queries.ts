import { listApprovalHistories } from './approval-histories.ts';
import type { AuditIndex } from './audit-index.ts';
import { listChainStates } from './chain-states.ts';
import { listPolicyIntervals } from './policy-intervals.ts';
import { countWindowFields } from './window-counts.ts';
import type { WindowQueries } from './window-types.ts';

/**
 * Builds the queries of a window. `openIndex` returns the index when it has every event that was durable before the
 * call.
 */
export function buildWindowQueries(journal_dir: string, openIndex: () => Promise<AuditIndex>): WindowQueries {
  return {
    countFields: async (window, fields) => {
      return countWindowFields(await openIndex(), window, fields);
    },
    listPolicyIntervals: async (window) => {
      return listPolicyIntervals(await openIndex(), window);
    },
    listApprovalHistories: async (window) => {
      return listApprovalHistories(await openIndex(), window);
    },
    listChainStates: async (until_ms) => {
      return listChainStates(journal_dir, until_ms);
    },
    findOldestEvent: async () => {
      const oldest = await (await openIndex()).db
        .selectFrom('audit_events')
        .select('timestamp_ms')
        .orderBy('timestamp_ms')
        .limit(1)
        .executeTakeFirst();
      return oldest?.timestamp_ms ?? null;
    },
  };
}
