import { describeFault, type Log } from '../../platform/log.ts';
import { createEventId } from '../audit/event-id.ts';
import type { Journal } from '../audit/journal.ts';
import { buildServiceEvent } from '../audit/service-event.ts';
import type { AuditEvent } from '../audit/types.ts';
import type { SecretReading } from './references.ts';

/** The tag of every event about a requested secret. */
export const SECRET_TAG = 'secret.credential';

/** The caller that loaded the configuration, and the policy that was active then. */
interface ReadActor {
  readonly caller_id: string;
  readonly policy_hash: string;
}

/**
 * Records which secrets the configuration requested, never a value. If an event cannot be recorded, only the service
 * log reports it: no decision depends on it, so nothing else fails.
 */
export async function recordSecretReads(
  readings: readonly SecretReading[],
  by: ReadActor,
  {
    journal,
    now_ms,
    log,
  }: {
    readonly journal: Pick<Journal, 'append'> | null;
    readonly now_ms: () => number;
    readonly log: Log;
  },
): Promise<void> {
  const events = buildSecretReadEvents(readings, by, now_ms());
  await Promise.all(events.map((event) => journal?.append(event))).catch((fault) =>
    log.error('the secrets that were read could not be recorded', describeFault(fault)),
  );
}

/** Builds one event for each secret that the service requested for a caller. */
export function buildSecretReadEvents(
  readings: readonly SecretReading[],
  by: ReadActor,
  nowMs: number,
): AuditEvent[] {
  return readings.map((reading) => buildSecretReadEvent(reading, { ...by, now_ms: nowMs }));
}

function buildSecretReadEvent(
  { secret_key, secret_backend, result }: SecretReading,
  about: ReadActor & { readonly now_ms: number },
): AuditEvent {
  return buildServiceEvent({
    ...about,
    event_id: createEventId(about.now_ms),
    phase: 'secret_resolve',
    done: result === 'allow',
    reason: REASONS[result],
    about: { data_tags: [SECRET_TAG] },
    metadata: { result, secret_backend, secret_key },
  });
}

const REASONS: Readonly<Record<SecretReading['result'], string>> = {
  allow: 'The service asked for a secret of its own, and it was read.',
  missing: 'The service asked for a secret of its own, and the backend does not have it.',
  error: 'The service asked for a secret of its own, and it could not be read.',
};
