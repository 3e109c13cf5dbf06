import { Refusal } from '../../../operations/operation.ts';
import type { EventFrame, StreamEnd, Subscription } from '../../../runtime/audit/events/types.ts';
import type { AdmittedReader, EventPorts } from './admit.ts';

/** Why a stream ends: what the service says, or that the credential does not hold any more. */
export type ReaderEndReason = StreamEnd | 'credential';

/** A connection, as its transport has it. Nothing here may throw. */
export interface EventConnection {
  readonly frame: EventFrame;
  /** Called when it is open only. */
  readonly write: (bytes: Buffer) => void;
  readonly waitingBytes: () => number;
  readonly drained: () => Promise<void>;
  /** Tells the other side that this side is there, and looks whether it is. */
  readonly beat: () => void;
  readonly end: (why: ReaderEndReason) => void;
}

/** A reader that is served over its line. */
export interface EventReader {
  readonly subscription: Subscription;
  /** The line is open: what has come meanwhile goes out, and all else as it comes. */
  readonly begin: () => void;
  /** The line is closed, by whomever. */
  readonly stop: () => void;
}

/** Begins to read for a line that opens as soon as this resolves. Throws a `Refusal` where what it wants cannot be had. */
export async function openReader(
  line: EventConnection,
  { stream, scope, wish, stillMay }: AdmittedReader,
  { heartbeat_ms, onAccessChange }: Pick<EventPorts, 'heartbeat_ms' | 'onAccessChange'>,
): Promise<EventReader> {
  let early: Buffer[] | null = [];
  let beating: NodeJS.Timeout | null = null;
  let unwatch: (() => void) | undefined;
  const endIfRevoked = (): void => void stillMay().then((may) => may || sink.end('credential'));
  const sink = {
    frame: line.frame,
    write: (bytes: Buffer) => void (early === null ? line.write(bytes) : early.push(bytes)),
    waitingBytes: () => (early === null ? line.waitingBytes() : 0),
    drained: () => line.drained(),
    end: (why: ReaderEndReason) => {
      stop();
      line.end(why);
    },
  };
  const stop = (): void => {
    if (beating !== null) clearInterval(beating);
    unwatch?.();
    subscription?.close();
  };
  const subscription = await stream.subscribe({ ...wish, scope, sink });
  if (subscription === null) throw unknownEvent();
  return {
    subscription,
    begin: () => {
      const waiting = early ?? [];
      early = null;
      for (const bytes of waiting) line.write(bytes);
      unwatch = onAccessChange?.(endIfRevoked);
      beating = setInterval(() => {
        line.beat();
        endIfRevoked();
      }, heartbeat_ms);
    },
    stop,
  };
}

/** That an event to go on behind is not there, for this reader at least. */
export function unknownEvent(): Refusal {
  return new Refusal(
    'not_found',
    'The event `after` is not known, or no longer: read what there is by `/v1/audit/query`, and connect without it.',
  );
}
