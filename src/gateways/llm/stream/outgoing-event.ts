import { applySplices } from '../../../core/json/splice.ts';
import type { Splice } from '../../../core/types/json.ts';
import { writeSseEvent } from '../../../core/wire/sse.ts';
import type { SseEvent, StreamEnding } from '../../../core/wire/wire-format.ts';

/** An event that is to go out, and what changes in its data until it does. */
export interface OutgoingEvent {
  readonly event: SseEvent;
  /** The `event` field under which it goes out. */
  readonly name: string;
  readonly edits: Splice[];
  /** Whether it waits, and what goes out right behind it. */
  is_waiting: boolean;
  readonly followers: OutgoingEvent[];
}

/** An event of which nothing went out yet. */
export function createOutgoingEvent(event: SseEvent, name: string, edits: Splice[] = []): OutgoingEvent {
  return { event, name, edits, is_waiting: false, followers: [] };
}

/** What goes over the wire: the name and the data that were judged, and nothing else of the event. */
export function writeOutgoingEvent({ name, event, edits }: OutgoingEvent, ending: StreamEnding): string {
  return writeSseEvent(
    name,
    ending.forward(edits.length === 0 ? event.data : applySplices(event.data, edits)),
  );
}
