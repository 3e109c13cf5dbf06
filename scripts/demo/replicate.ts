/** Many events from few: each recorded event again, with another time, ID and session. */
import { createEventId } from '../../src/runtime/audit/event-id.ts';
import { hashContext } from '../../src/runtime/audit/service-event.ts';
import type { AuditEvent } from '../../src/runtime/audit/types.ts';
import type { DemoClock, DemoEngine } from './engine.ts';

/** The number of events that are written at once. */
const BATCH_EVENTS = 2_000;

/**
 * Appends copies of the recorded events to the journal until it has `total`, spread evenly over the day that ends at
 * `endMs`. Each copy is a decision that the engine made, with another time, event ID and session.
 */
export async function replicateEvents(
  engine: DemoEngine,
  clock: DemoClock,
  total: number,
  endMs: number,
): Promise<void> {
  const templates = [...engine.events].filter(({ metadata }) => typeof metadata.endpoint === 'string');
  const missing = total - engine.events.length;
  const stepMs = 86_400_000 / Math.max(1, missing);
  for (let from = 0; from < missing; from += BATCH_EVENTS) {
    const batch: Promise<void>[] = [];
    for (let at = from; at < Math.min(missing, from + BATCH_EVENTS); at++) {
      clock.now_ms = Math.floor(endMs - 86_400_000 + at * stepMs);
      const round = Math.floor(at / templates.length);
      batch.push(engine.append(copyEvent(templates[at % templates.length]!, clock.now_ms, round)));
    }
    await Promise.all(batch);
  }
  clock.now_ms = endMs;
}

function copyEvent(event: AuditEvent, nowMs: number, round: number): AuditEvent {
  const copy: AuditEvent = {
    ...event,
    event_id: createEventId(nowMs),
    timestamp: new Date(nowMs).toISOString(),
    session_id: event.session_id === null ? null : `${event.session_id}-${round}`,
  };
  return { ...copy, context_hash: hashContext(copy) };
}
