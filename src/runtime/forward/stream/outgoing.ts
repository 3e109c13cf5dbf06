import { splice } from '../../../core/wire/splice.ts';
import { withData } from '../../../core/wire/sse.ts';
import type { Splice, SseEvent, StreamEnding } from '../../../core/wire/types.ts';

/** An event that is to go out, and what changes in its data until it does. */
export interface Outgoing {
  readonly event: SseEvent;
  readonly edits: Splice[];
  /** Whether it waits, and what goes out right behind it. */
  is_waiting: boolean;
  readonly behind: Outgoing[];
}

/** An event of which nothing went out yet. */
export function outgoingOf(event: SseEvent, edits: Splice[] = []): Outgoing {
  return { event, edits, is_waiting: false, behind: [] };
}

/** What goes over the wire. An event in which nothing changed goes out byte for byte. */
export function sent({ event, edits }: Outgoing, ending: StreamEnding): string {
  const data = ending.see(edits.length === 0 ? event.data : splice(event.data, edits));
  return data === event.data ? event.raw : withData(event, data);
}
