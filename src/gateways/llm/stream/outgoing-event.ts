import { applySplices } from '../../../core/json/splice.ts';
import type { Splice } from '../../../core/types/json.ts';
import { writeSseEvent } from '../../../core/wire/sse.ts';
import type { SseEvent, StreamEnding } from '../../../core/wire/wire-format.ts';

/** An event to send, with the edits of its data. */
export interface OutgoingEvent {
  readonly event: SseEvent;
  /** The `event` field with which it is sent. */
  readonly name: string;
  readonly edits: Splice[];
  /** True while the event is held. `followers` are sent directly after it. */
  is_waiting: boolean;
  readonly followers: OutgoingEvent[];
}

/** Creates an event that is not sent yet. */
export function createOutgoingEvent(event: SseEvent, name: string, edits: Splice[] = []): OutgoingEvent {
  return { event, name, edits, is_waiting: false, followers: [] };
}

/** Serializes an event: the judged name and data, without the other fields of the original event. */
export function writeOutgoingEvent({ name, event, edits }: OutgoingEvent, ending: StreamEnding): string {
  return writeSseEvent(
    name,
    ending.forward(edits.length === 0 ? event.data : applySplices(event.data, edits)),
  );
}
