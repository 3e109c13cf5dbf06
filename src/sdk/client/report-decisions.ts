import { ServiceRefusedError, ServiceUnavailableError } from '../errors.ts';
import { type DecisionRecord, dropShownAction } from '../local/audit-record.ts';
import { type ServiceApi, serviceRoutes } from '../service-api.ts';
import { callService, type ServiceAddress } from './http-request.ts';

type ReportedEvent = ServiceApi['audit_import']['request']['events'][number];

/** A decision that the service does not record, and why. */
export interface RefusedDecision {
  readonly event_id: string;
  readonly code: string;
  readonly reason: string;
}

/** The answer of the service to one batch. */
export interface ReportAnswer {
  /** Decisions that are in the audit log now, duplicates included. */
  readonly recorded: number;
  readonly refused: readonly RefusedDecision[];
}

/**
 * Sends decisions of a local guard to a service.
 *
 * @throws ServiceUnavailableError, ServiceRefusedError
 */
export async function reportDecisions(
  address: ServiceAddress,
  records: readonly DecisionRecord[],
): Promise<ReportAnswer> {
  const body = JSON.stringify({ events: records.map(toReportedEvent) });
  const answer = await callService(address, { path: serviceRoutes.audit_import[1], body });
  const { recorded, duplicates, refused } = (answer ?? {}) as ServiceApi['audit_import']['response'];
  const isWhole =
    Number.isInteger(recorded) &&
    Number.isInteger(duplicates) &&
    Array.isArray(refused) &&
    recorded + duplicates + refused.length === records.length;
  if (!isWhole)
    throw new ServiceUnavailableError(
      'The service did not confirm all decisions. Check its address and its version.',
    );
  return { recorded: recorded + duplicates, refused };
}

/** The decisions themselves cannot be recorded: their form, or the size of the batch. A fix of the service changes nothing. */
export function isRefusedContent(error: unknown): boolean {
  return error instanceof ServiceRefusedError && [400, 413, 422].includes(error.status);
}

/**
 * Returns the members of a record that the service takes. The reason, the caller and the hash are those of the service;
 * the tenant is that of the credential if the guard names none.
 */
function toReportedEvent(record: DecisionRecord): ReportedEvent {
  const { reason: _, caller_id: __, context_hash: ___, tenant_id, ...rest } = dropShownAction(record);
  // A sentence. The service takes no text.
  const { coverage_reason: ____, ...metadata } = record.metadata;
  const event = { ...rest, metadata, ...(tenant_id !== 'default' && { tenant_id }) };
  return event as ReportedEvent;
}
