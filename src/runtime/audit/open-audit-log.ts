import type { Log } from '../../platform/log.ts';
import { requireAnswer } from '../../platform/require-answer.ts';
import type { AuditIndex } from './audit-index.ts';
import type { EventCount, EventCountQuery, SessionListQuery, SessionSummary } from './count-types.ts';
import { AuditFailure } from './failure.ts';
import { type LazyIndex, openLazyIndex } from './lazy-index.ts';
import type { AuditFilter, AuditPage, AuditQueries } from './types.ts';
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

/** Opens the audit queries of one process. */
export function openAuditLog(parts: AuditLogParts): AuditLog {
  const index = openLazyIndex(parts.index_path);
  return {
    offers: {
      queryAudit: (filter) => queryAudit(parts, index, filter),
      findEventCallers: (event_ids) => findCallers(parts, index, event_ids),
      countEvents: (request) => countEvents(parts, index, request),
      listAuditSessions: (request) => listAuditedSessions(parts, index, request),
      auditWindow: buildWindowQueries(parts.journal_dir, async () => {
        if (parts.journal === null) throw buildDisabledFailure();
        await updateIndex(parts);
        return index.open();
      }),
    },
    index: index.open,
    close: index.close,
  };
}

/** Queries the index after it has every event that was durable before the call. */
async function queryAudit(parts: AuditLogParts, index: LazyIndex, filter: AuditFilter): Promise<AuditPage> {
  if (parts.journal === null) throw buildDisabledFailure();
  const { now_ms } = parts;
  const [{ parseFilter }, { queryIndex }] = await Promise.all([import('./filter.ts'), import('./query.ts')]);
  // Reject an invalid filter before the sync, which is the expensive part.
  parseFilter(filter, now_ms());
  await updateIndex(parts);
  return queryIndex(await index.open(), filter, { now_ms });
}

/** Finds the callers of events, after the same sync. */
async function findCallers(
  parts: AuditLogParts,
  index: LazyIndex,
  event_ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (parts.journal === null) throw buildDisabledFailure();
  const { findEventCallers } = await import('./find-callers.ts');
  await updateIndex(parts);
  return findEventCallers(await index.open(), event_ids);
}

/** Counts events, after the same sync. */
async function countEvents(
  parts: AuditLogParts,
  index: LazyIndex,
  request: EventCountQuery,
): Promise<readonly EventCount[]> {
  if (parts.journal === null) throw buildDisabledFailure();
  const { countEventsBy } = await import('./event-counts.ts');
  await updateIndex(parts);
  return countEventsBy(await index.open(), request);
}

/** Lists sessions, after the same sync. */
async function listAuditedSessions(
  parts: AuditLogParts,
  index: LazyIndex,
  request: SessionListQuery,
): Promise<readonly SessionSummary[]> {
  if (parts.journal === null) throw buildDisabledFailure();
  const { listAuditSessions } = await import('./session-list.ts');
  await updateIndex(parts);
  return listAuditSessions(await index.open(), request);
}

function buildDisabledFailure(): AuditFailure {
  return new AuditFailure('audit_disabled', 'There is no audit log: `audit.enabled` is `false`.');
}

function updateIndex({ coordinator, log }: AuditLogParts): Promise<void> {
  return requireAnswer(
    coordinator.syncIndex(),
    log,
    'The audit index cannot be brought up to date; the log says why.',
  );
}
