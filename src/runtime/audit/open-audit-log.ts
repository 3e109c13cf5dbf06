import type { Log } from '../../platform/log.ts';
import { shareCalls } from '../../platform/queue/share-calls.ts';
import { requireAnswer } from '../../platform/require-answer.ts';
import type { AuditIndex } from './audit-index.ts';
import { countEventsBy } from './event-counts.ts';
import { AuditFailure } from './failure.ts';
import { parseFilter } from './filter.ts';
import { findEventCallers } from './find-callers.ts';
import { openLazyIndex } from './lazy-index.ts';
import { queryIndex } from './query.ts';
import { listAuditSessions } from './session-list.ts';
import type { AuditQueries } from './types.ts';
import { buildWindowQueries } from './window-queries.ts';

interface AuditLogParts {
  /** `null` if the audit log is disabled. */
  readonly journal: object | null;
  readonly index_path: string;
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
  index_path,
  coordinator,
  log,
  now_ms,
}: AuditLogParts): AuditLog {
  const index = openLazyIndex(index_path);
  const sync = shareCalls(() =>
    requireAnswer(
      coordinator.syncIndex(),
      log,
      'The audit index cannot be brought up to date; the log says why.',
    ),
  );
  const openSynced = async (): Promise<AuditIndex> => {
    if (journal === null)
      throw new AuditFailure('audit_disabled', 'There is no audit log: `audit.enabled` is `false`.');
    await sync();
    return index.open();
  };
  return {
    offers: {
      async queryAudit(filter) {
        // Reject an invalid filter before the sync, which is the expensive part.
        if (journal !== null) parseFilter(filter, now_ms());
        return queryIndex(await openSynced(), filter, { now_ms });
      },
      async findEventCallers(event_ids) {
        return findEventCallers(await openSynced(), event_ids);
      },
      async countEvents(request) {
        return countEventsBy(await openSynced(), request);
      },
      async listAuditSessions(request) {
        return listAuditSessions(await openSynced(), request);
      },
      auditWindow: buildWindowQueries(journal_dir, openSynced),
    },
    index: index.open,
    close: index.close,
  };
}
