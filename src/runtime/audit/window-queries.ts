import type { AuditIndex } from './audit-index.ts';
import type { WindowQueries } from './window-types.ts';

/**
 * Builds the queries of a window. `openIndex` returns the index when it has every event that was durable before the
 * call.
 */
export function buildWindowQueries(journal_dir: string, openIndex: () => Promise<AuditIndex>): WindowQueries {
  return {
    countFields: async (window, fields) => {
      const { countWindowFields } = await import('./window-counts.ts');
      return countWindowFields(await openIndex(), window, fields);
    },
    listPolicyIntervals: async (window) => {
      const { listPolicyIntervals } = await import('./policy-intervals.ts');
      return listPolicyIntervals(await openIndex(), window);
    },
    listApprovalHistories: async (window) => {
      const { listApprovalHistories } = await import('./approval-histories.ts');
      return listApprovalHistories(await openIndex(), window);
    },
    listChainStates: async (until_ms) => {
      const { listChainStates } = await import('./chain-states.ts');
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
