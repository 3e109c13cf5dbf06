import type { RetentionReport } from './retention.ts';
import { buildServiceEvent } from './service-event.ts';
import type { AuditEvent } from './types.ts';

/** The `policy_name` of the events that record what retention deleted. */
export const RETENTION_EVENT = 'service.audit_retention';

/**
 * Builds the event of a round of retention. Its metadata has the writer, the first and last deleted record with the hash
 * of the last one, the deleted files, and the files that legal holds keep.
 */
export function buildRetentionEvent(
  report: RetentionReport,
  own: { readonly event_id: string; readonly now_ms: number; readonly policy_hash: string },
): AuditEvent {
  const { writer, max_age_days, removed, held } = report;
  const [first, last] = [removed[0], removed.at(-1)];
  return buildServiceEvent({
    ...own,
    phase: 'audit_retention',
    done: true,
    reason: describeRound(report),
    caller_id: 'service:retention',
    metadata: {
      ...{ writer, max_age_days },
      ...(first !== undefined &&
        last !== undefined && {
          first_seq: first.first_seq,
          last_seq: last.last_seq,
          last_hash: last.last_hash,
          removed: removed.map((each) => `${each.name} ${each.first_seq}-${each.last_seq} ${each.last_hash}`),
        }),
      ...(held.length > 0 && { held: held.map(({ name, hold_id }) => `${name} ${hold_id}`) }),
    },
  });
}

function describeRound({ removed, held }: RetentionReport): string {
  const parts = [
    ...(removed.length > 0
      ? [`Retention deleted ${formatFileCount(removed.length)} of the journal by age.`]
      : []),
    ...(held.length > 0
      ? [`Legal holds keep ${formatFileCount(held.length)} that retention would delete.`]
      : []),
  ];
  return parts.join(' ');
}

function formatFileCount(files: number): string {
  return `${files} ${files === 1 ? 'file' : 'files'}`;
}
