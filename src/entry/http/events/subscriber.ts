import { Refusal } from '../../../operations/operation.ts';
import type { EventFrame, StreamEndReason, Subscription } from '../../../runtime/audit/events/types.ts';
import type { AdmittedSubscriber, EventPorts } from './admit-subscriber.ts';

/** Reasons for which a stream ends: one from the service, or a credential that is no longer valid. */
export type SubscriberEndReason = StreamEndReason | 'credential';

/** A connection over either transport. Its methods must not throw. */
export interface EventConnection {
  readonly frame: EventFrame;
  /** Writes bytes. Called only while the connection is open. */
  readonly write: (bytes: Buffer) => void;
  readonly waitingBytes: () => number;
  readonly drained: () => Promise<void>;
  /** Sends a heartbeat, and checks whether the client is still connected. */
  readonly beat: () => void;
  readonly end: (why: SubscriberEndReason) => void;
}

/** A reader with an open connection. */
export interface EventSubscriber {
  readonly subscription: Subscription;
  /** Starts to send: first the events that arrived in the meantime, then each event as it arrives. */
  readonly begin: () => void;
  /** Stops reading. Called when the connection is closed by either side. */
  readonly stop: () => void;
}

/**
 * Starts to read events for a connection that opens as soon as this resolves. Throws a `Refusal` if the request cannot
 * be served.
 */
export async function openSubscriber(
  line: EventConnection,
  { stream, scope, request: followRequest, hasAccess: stillMay, access_ms }: AdmittedSubscriber,
  { heartbeat_ms, onAccessChange }: Pick<EventPorts, 'heartbeat_ms' | 'onAccessChange'>,
): Promise<EventSubscriber> {
  let early: Buffer[] | null = [];
  const timers: NodeJS.Timeout[] = [];
  let isChecking = false;
  let unwatch: (() => void) | undefined;
  const endIfRevoked = async (): Promise<void> => {
    if (!(await stillMay())) sink.end('credential');
  };
  const checkAccess = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    await endIfRevoked();
    isChecking = false;
  };
  const sink = {
    frame: line.frame,
    write: (bytes: Buffer) => void (early === null ? line.write(bytes) : early.push(bytes)),
    waitingBytes: () => (early === null ? line.waitingBytes() : 0),
    drained: () => line.drained(),
    end: (why: SubscriberEndReason) => {
      stop();
      line.end(why);
    },
  };
  const stop = (): void => {
    for (const timer of timers) clearInterval(timer);
    unwatch?.();
    subscription?.close();
  };
  const subscription = await stream.subscribe({ ...followRequest, scope, sink });
  if (subscription === null) throw buildUnknownEventRefusal();
  return {
    subscription,
    begin: () => {
      const waiting = early ?? [];
      early = null;
      for (const bytes of waiting) line.write(bytes);
      unwatch = onAccessChange?.(() => void endIfRevoked());
      timers.push(
        setInterval(line.beat, heartbeat_ms),
        setInterval(() => void checkAccess(), access_ms),
      );
    },
    stop,
  };
}

/** Builds the refusal for an event ID from which the stream cannot continue, because this reader has no such event. */
export function buildUnknownEventRefusal(): Refusal {
  return new Refusal(
    'not_found',
    'The event `after` is not known, or no longer: read what there is by `/v1/audit/query`, and connect without it.',
  );
}
