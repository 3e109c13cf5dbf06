import { join } from 'node:path';
import type { HttpClient } from '../../platform/net/http-client.ts';
import { listWriters } from '../../runtime/audit/files.ts';
import { FROM_START, readChain } from '../../runtime/audit/reader.ts';
import { buildOcsfEvent, type EventRecord, type OcsfSource } from './ocsf.ts';
import { encodeLogs, type LogRecord } from './otlp.ts';
import { type ExportPositions, savePositions } from './positions.ts';

/** The log to export, and its receiver. */
export interface LogExport {
  readonly state_dir: string;
  readonly client: HttpClient;
  /** Ends with `/v1/logs`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeout_ms: number;
  readonly filter: { readonly decisions: readonly string[]; readonly tenants: readonly string[] };
  readonly source: OcsfSource;
  readonly resource: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** One round of exporting. */
export interface ExportRound {
  readonly exported: number;
  /** Events that the receiver refused permanently. */
  readonly refused: number;
  readonly has_more: boolean;
}

/** The receiver did not accept a batch, which is sent again. The message is a sentence without an address. */
export class ExportFailure extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`The collector has answered with ${status}.`);
    this.name = 'ExportFailure';
    this.status = status;
  }
}

/** The batches of one round, so that a stop does not wait for a long backlog. */
const ROUND_BATCHES_MAX = 20;

/**
 * Sends the events after the positions, and moves a position only after the receiver has its batch: every event arrives
 * at least once, in the order of its chain.
 *
 * @throws ExportFailure if the receiver cannot take events now
 * @throws HttpFailure if it cannot be reached
 */
export async function exportNewEvents(log: LogExport, positions: ExportPositions): Promise<ExportRound> {
  const journalDir = join(log.state_dir, 'journal');
  let batches = 0;
  let exported = 0;
  let refused = 0;
  for (const writer of await listWriters(journalDir)) {
    for await (const block of readChain(
      join(journalDir, writer),
      positions.chains.get(writer) ?? FROM_START,
    )) {
      const events = block.records.flatMap(({ record }) =>
        record.kind === 'event' &&
        Date.parse(record.event.timestamp) >= positions.since_ms &&
        isWanted(record, log.filter)
          ? [record]
          : [],
      );
      const lost = await sendEvents(log, events);
      exported += events.length - lost;
      refused += lost;
      positions.chains.set(writer, block.position);
      savePositions(log.state_dir, positions);
      batches += 1;
      if (batches === ROUND_BATCHES_MAX) return { exported, refused, has_more: true };
    }
  }
  return { exported, refused, has_more: false };
}

function isWanted({ event }: EventRecord, { decisions, tenants }: LogExport['filter']): boolean {
  return (
    (decisions.length === 0 || decisions.includes(event.decision)) &&
    (tenants.length === 0 || tenants.includes(event.tenant_id))
  );
}

/** Statuses after which the same batch is sent again, by the specification of OTLP over HTTP. */
const RETRIED: readonly number[] = [429, 502, 503, 504];
/** Statuses that say that a batch is too large or has a record that is not accepted. */
const REFUSED: readonly number[] = [400, 413, 422];

/** Sends events. A batch that is refused is halved, so that one event does not stop the others. Returns the refused ones. */
async function sendEvents(log: LogExport, events: readonly EventRecord[]): Promise<number> {
  if (events.length === 0) return 0;
  const status = await post(log, events);
  if (status >= 200 && status < 300) return 0;
  if (RETRIED.includes(status) || !REFUSED.includes(status)) throw new ExportFailure(status);
  if (events.length === 1) return 1;
  const middle = Math.ceil(events.length / 2);
  return (await sendEvents(log, events.slice(0, middle))) + (await sendEvents(log, events.slice(middle)));
}

async function post(log: LogExport, events: readonly EventRecord[]): Promise<number> {
  const observedMs = Date.now();
  const records = events.map((record) => buildLogRecord(record, log.source, observedMs));
  const { status } = await log.client.call({
    method: 'POST',
    url: log.url,
    headers: { ...log.headers, 'content-type': 'application/json' },
    body: encodeLogs(records, log.resource, log.source.version),
    signal: AbortSignal.any([log.signal, AbortSignal.timeout(log.timeout_ms)]),
    response_bytes_max: 0,
  });
  return status;
}

function buildLogRecord(record: EventRecord, source: OcsfSource, observedMs: number): LogRecord {
  const { event } = record;
  const body = buildOcsfEvent(record, source);
  return {
    time_ms: Date.parse(event.timestamp),
    observed_ms: observedMs,
    severity_id: body.severity_id as number,
    trace_id: event.trace_id,
    attributes: {
      'customshouse.event_id': event.event_id,
      'customshouse.decision': event.decision,
      'customshouse.tenant_id': event.tenant_id,
      'gen_ai.agent.id': event.agent_id,
      ...(event.tool_name !== null && { 'gen_ai.tool.name': event.tool_name }),
    },
    body,
  };
}
