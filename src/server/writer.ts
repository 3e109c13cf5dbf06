import { parseDurationMs } from '../core/policy/compile/duration.ts';
import type { Log } from '../platform/log.ts';
import { createEventId } from '../runtime/audit/event-id.ts';
import { AuditFailure } from '../runtime/audit/failure.ts';
import { type Journal, openJournal } from '../runtime/audit/journal.ts';
import { openSigningKey } from '../runtime/audit/keys.ts';
import { readLegalHolds } from '../runtime/audit/legal-holds.ts';
import { buildRetentionEvent } from '../runtime/audit/retention.ts';
import type { Config } from '../runtime/config/index.ts';
import type { Metrics } from '../runtime/observability/metrics.ts';
import { buildStatePaths } from './state-dir.ts';

/**
 * Counts the events that a journal rejects. A journal that is closed because the service stops is not a
 * failure.
 */
function countFailures(journal: Journal, metrics: Metrics | null): Journal {
  if (metrics === null) return journal;
  const failed = (fault: unknown): never => {
    if (!(fault instanceof AuditFailure && fault.code === 'journal_closed')) metrics.countJournalFailure();
    throw fault;
  };
  return { ...journal, append: (event) => journal.append(event).catch(failed) };
}

/**
 * Opens the journal of a writer with the settings of the configuration. `policyHash` returns the active policy, which the
 * events of retention name; `null` for a short-lived process, which deletes nothing.
 */
export async function openWriter(
  config: Config,
  writer: string,
  log: Log,
  policyHash: (() => string) | null,
  metrics: Metrics | null = null,
): Promise<Journal> {
  const paths = buildStatePaths(config.state_dir);
  const shipping = config.audit.object_storage;
  const journal = await openJournal({
    dir: paths.journal,
    writer,
    max_size_bytes: config.audit.max_size_mb * 1_048_576,
    max_age_days: config.audit.max_age_days,
    compress_rotated: config.audit.compress_rotated,
    // A short-lived process leaves its file to the one that ships.
    ...(shipping !== undefined &&
      policyHash !== null && { seal_after_ms: parseDurationMs(shipping.seal_after) }),
    // The parent runs as long as any worker, and exits after the last.
    witness: writer === 'parent',
    signing_key: await openSigningKey({ dir: paths.keys, now_ms: Date.now }),
    now_ms: Date.now,
    retention: {
      readHolds: () => (policyHash === null ? null : readLegalHolds(config.state_dir, Date.now())),
      buildEvent: (report) => {
        const nowMs = Date.now();
        return buildRetentionEvent(report, {
          event_id: createEventId(nowMs),
          now_ms: nowMs,
          policy_hash: policyHash?.() ?? '',
        });
      },
    },
    on_maintenance_failure: (code) =>
      log.warn('old journal files could not be compressed or deleted', { code }),
  });
  return countFailures(journal, metrics);
}
