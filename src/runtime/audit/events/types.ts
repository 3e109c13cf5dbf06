import type { Action, Boundary, Decision, Tag } from '../../../core/types/index.ts';

/** An audit event as readers of the event stream receive it. Plain JSON, without the evaluated text. */
export interface StreamEvent {
  /** ISO 8601, UTC, milliseconds. */
  readonly timestamp: string;
  readonly action: Action;
  /** The rule that decided. */
  readonly rule: string;
  /** The event ID; also the place to resume from, if it is the last event that a reader received. */
  readonly event_id: string;
  readonly boundary: Boundary | 'memory';
  readonly decision: Decision;
  readonly agent_id: string;
  readonly tenant_id: string;
  /** The proved person for whom the agent acted. */
  readonly user_id?: string;
  readonly data_tags: readonly Tag[];
  /** The call as people see it, if `audit.export_actions` lets it leave. */
  readonly action_shown?: string;
}

/** The fields that a reader may filter the stream by. */
export const STREAM_FIELDS = ['boundary', 'tenant_id', 'agent_id', 'user_id', 'decision', 'rule'] as const;

/** The filter of a reader; an absent field matches all events. */
export type StreamFilter = Readonly<Partial<Record<(typeof STREAM_FIELDS)[number], string>>>;

/** The events that a reader may see, regardless of its filter. */
export interface StreamScope {
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
  /** Limits the events to this caller's own calls; `null` for the events of all callers. */
  readonly caller_id: string | null;
}

/** An event on its way to readers, serialized once for all of them. */
export interface StreamedEvent {
  readonly event: StreamEvent;
  /** The caller of the event. The hub checks it against the scope; readers do not receive it. */
  readonly caller_id: string;
  /** `event` as JSON text. */
  readonly json: string;
}

/** The form that is sent between processes: the text alone. */
export type StreamedText = Omit<StreamedEvent, 'event'>;

/**
 * All events after the position `from`, up to and including `to`, in the order of the audit index, which is the order
 * of the stream. Both positions are valid only in that index.
 */
export interface StreamBatch {
  /** The subscription turn that the batch belongs to. */
  readonly turn: number;
  readonly from: number;
  readonly to: number;
  readonly events: readonly StreamedText[];
}

/** The wire format of a transport. All readers with the same format share the resulting bytes. */
export interface EventFrame {
  /** The name of the format. */
  readonly name: string;
  readonly bytes: (streamed: StreamedEvent) => Buffer;
}

/** The reason why a stream ended: the reader is too slow, the service stops, or an error occurred. */
export type StreamEndReason = 'slow' | 'stopping' | 'fault';

/** The destination of a reader's events. Its functions must not throw. */
export interface EventSink {
  readonly frame: EventFrame;
  readonly write: (bytes: Buffer) => void;
  /** Returns the bytes that were written and not sent yet. */
  readonly waitingBytes: () => number;
  /** Resolves when the buffer is empty, or will never become empty. */
  readonly drained: () => Promise<void>;
  readonly end: (why: StreamEndReason) => void;
}

/** A request to read the event stream. */
export interface SubscriptionRequest {
  readonly scope: StreamScope;
  readonly filter: StreamFilter;
  /** The event to continue after; `null` for new events only. */
  readonly after: string | null;
  readonly sink: EventSink;
}

/** The subscription of one reader. */
export interface Subscription {
  /**
   * Replaces the filter. With `after`, also sends the events that were missed since; `false` if that event is unknown.
   */
  readonly narrow: (filter: StreamFilter, after: string | null) => Promise<boolean>;
  readonly close: () => void;
}

/** Serves readers of the event stream in one process. */
export interface EventStream {
  /**
   * Resolves when every event that is decided from now on will be delivered; `null` if `after` is unknown or outside
   * the scope. Rejects with `Unavailable` while the stream is not available.
   */
  readonly subscribe: (request: SubscriptionRequest) => Promise<Subscription | null>;
}
