import type { Log } from '../../platform/log.ts';
import { shareCalls } from '../../platform/queue/share-calls.ts';
import { requireAnswer } from '../../platform/require-answer.ts';
import { listApprovalHistories } from './approval-histories.ts';
import type { AuditIndex, IndexAddress } from './audit-index.ts';
import { listChainStates } from './chain-states.ts';
import { countEventsBy } from './event-counts.ts';
import { AuditFailure } from './failure.ts';
import { parseFilter } from './filter.ts';
import { indexHeads } from './indexer.ts';
import { openLazyIndex } from './lazy-index.ts';
import { listPolicyIntervals } from './policy-intervals.ts';
import { queryIndex } from './query.ts';
import { listAuditSessions } from './session-list.ts';
import type { AuditQueries } from './types.ts';
import { countWindowFields } from './window-counts.ts';

interface AuditLogParts {
  /** `null` if the audit log is disabled. */
  readonly journal: object | null;
  /** Returns the address of the index; `null` without one. Called with the first query. */
  readonly index_address: () => IndexAddress | null;
  /** The folder of all writers. */
  readonly journal_dir: string;
  readonly coordinator: { readonly syncIndex: () => Promise<void> };
  readonly log: Log;
  readonly now_ms: () => number;
}

interface AuditLog {
  readonly offers: AuditQueries;
  /** Returns the index as it is now, without a sync. The first call opens it. */
  readonly index: () => Promise<AuditIndex>;
  readonly close: () => Promise<void>;
}

/** Opens the audit queries of one process. Each query sees every event that was durable before its call. */
export function openAuditLog({
  journal,
  journal_dir,
  index_address,
  coordinator,
  log,
  now_ms,
}: AuditLogParts): AuditLog {
  const index = openLazyIndex(index_address);
  const sync = shareCalls(() =>
    requireAnswer(
      coordinator.syncIndex(),
      log,
      'The audit index cannot be brought up to date; the log says why.',
    ),
  );
  /** Makes a function on the index a query on the synced index. */
  const synced =
    <Rest extends readonly unknown[], Answer>(query: (index: AuditIndex, ...rest: Rest) => Promise<Answer>) =>
    async (...rest: Rest): Promise<Answer> => {
      if (journal === null)
        throw new AuditFailure('audit_disabled', 'There is no audit log: `audit.enabled` is `false`.');
      await sync();
      return query(await index.open(), ...rest);
    };
  const queryAudit = synced(queryIndex);
  return {
    offers: {
      async queryAudit(filter) {
        // Reject an invalid filter before the sync, which is the expensive part.
        if (journal !== null) parseFilter(filter, now_ms());
        return queryAudit(filter, { now_ms });
      },
      findEventCallers: synced(findEventCallers),
      countEvents: synced(countEventsBy),
      listAuditSessions: synced(listAuditSessions),
      listIndexedHeads: synced(indexHeads),
      auditWindow: {
        countFields: synced(countWindowFields),
        listPolicyIntervals: synced(listPolicyIntervals),
        listApprovalHistories: synced(listApprovalHistories),
        listChainStates: (untilMs) => listChainStates(journal_dir, untilMs),
        findOldestEvent: synced(findOldestEvent),
      },
    },
    index: index.open,
    close: index.close,
  };
}

async function findEventCallers(
  { db }: AuditIndex,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (eventIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('audit_events')
    .select(['event_id', 'caller_id'])
    .where('event_id', 'in', eventIds)
    .execute();
  return new Map(rows.map(({ event_id, caller_id }) => [event_id, caller_id]));
}

async function findOldestEvent({ db }: AuditIndex): Promise<number | null> {
  const oldest = await db
    .selectFrom('audit_events')
    .select('timestamp_ms')
    .orderBy('timestamp_ms')
    .limit(1)
    .executeTakeFirst();
  return oldest?.timestamp_ms ?? null;
}
