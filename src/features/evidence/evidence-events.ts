import { buildServiceEvent, type ServiceChange } from '../../runtime/audit/service-event.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { VerifyReport } from '../../runtime/audit/verify-report.ts';
import type { PackSummary } from './make-pack.ts';

type Own = Pick<ServiceChange, 'event_id' | 'now_ms' | 'caller_id' | 'policy_hash'>;

/** Builds the audit event of a pack that was made. */
export function buildPackEvent(summary: PackSummary, own: Own): AuditEvent {
  const { window, tenant_id, framework, events, sha256, key_id } = summary;
  return buildServiceEvent({
    ...own,
    phase: 'evidence_pack',
    done: true,
    reason: 'An evidence pack of the audit log was made.',
    metadata: { since: window.since, until: window.until, framework, events, pack_sha256: sha256, key_id },
    ...(tenant_id !== null && { about: { tenant_id } }),
  });
}

const UNKNOWN = 'The audit log cannot be verified, because a public key is missing.';

/** Builds the audit event of a verification that ended. A log that is not known to be intact is a block. */
export function buildVerifyEvent(report: VerifyReport, own: Own): AuditEvent {
  const { intact, writers, broken, missing_keys } = report;
  const failure = broken === null ? UNKNOWN : 'The audit log is broken.';
  return buildServiceEvent({
    ...own,
    phase: 'audit_verify',
    done: intact,
    reason: intact ? 'The audit log is intact.' : failure,
    metadata: {
      intact,
      writers: writers.length,
      records: writers.reduce((sum, { records }) => sum + records, 0),
      ...(missing_keys.length > 0 && { missing_keys }),
      ...(broken !== null && {
        broken_writer: broken.writer,
        broken_file: broken.file,
        broken_line: broken.line,
      }),
    },
  });
}
