import type { Action, Boundary, Decision, Tag } from '../../../core/types/index.ts';

/** What a reader of the event stream gets of an audit event. Plain JSON; nothing of what was judged is in it. */
export interface StreamEvent {
  /** ISO 8601, UTC, milliseconds. */
  readonly timestamp: string;
  readonly action: Action;
  /** The rule that decided. */
  readonly rule: string;
  /** Also where to go on: what a reader has seen last. */
  readonly event_id: string;
  readonly boundary: Boundary | 'memory';
  readonly decision: Decision;
  readonly agent_id: string;
  readonly tenant_id: string;
  readonly data_tags: readonly Tag[];
}

/** Fields that a reader may narrow the stream by. */
export const STREAM_FIELDS = ['boundary', 'tenant_id', 'agent_id', 'decision', 'rule'] as const;

/** What a reader asks for; a field that is not there is not asked about. */
export type StreamFilter = Readonly<Partial<Record<(typeof STREAM_FIELDS)[number], string>>>;

/** What a reader may see at all, whatever it asks for. */
export interface StreamScope {
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
  /** Only events of this caller's own calls; `null` those of all. */
  readonly caller_id: string | null;
}

/** An event on its way to readers: written once, for all of them. */
export interface StreamedEvent {
  readonly event: StreamEvent;
  /** Whose call it was; for the scope of readers, who are not told. */
  readonly caller_id: string;
  /** `event` as JSON text. */
  readonly json: string;
}

/** The same between two processes: the text alone. */
export type StreamedText = Omit<StreamedEvent, 'event'>;

/**
 * Events in the order of the audit index, which is the order of the stream: all that came into it behind `from` up to
 * `to`. Both are positions in it, and mean something there alone.
 */
export interface StreamBatch {
  /** Which turn of joining it belongs to. */
  readonly turn: number;
  readonly from: number;
  readonly to: number;
  readonly events: readonly StreamedText[];
}

/** How a transport writes an event; what comes out is shared by all readers of one form. */
export interface EventFrame {
  /** Names the form. */
  readonly name: string;
  readonly bytes: (streamed: StreamedEvent) => Buffer;
}

/** Why a reader gets nothing more: it read too slowly, the service stops, or the service has a fault. */
export type StreamEnd = 'slow' | 'stopping' | 'fault';

/** Where a reader's events go. Nothing here may throw. */
export interface EventSink {
  readonly frame: EventFrame;
  readonly write: (bytes: Buffer) => void;
  /** Bytes that were written and are not on their way yet. */
  readonly waitingBytes: () => number;
  /** Resolves when nothing waits any more, or never will. */
  readonly drained: () => Promise<void>;
  readonly end: (why: StreamEnd) => void;
}

/** What somebody wants to read. */
export interface StreamRequest {
  readonly scope: StreamScope;
  readonly filter: StreamFilter;
  /** The event to go on behind; `null`: what comes from now on. */
  readonly after: string | null;
  readonly sink: EventSink;
}

/** A reader that is served. */
export interface Subscription {
  /** Asks for others from now on. With `after` also for those that it missed before it came; `false`: it is not known. */
  readonly narrow: (filter: StreamFilter, after: string | null) => Promise<boolean>;
  readonly close: () => void;
}

/** Serves readers of the event stream in one process. */
export interface EventStream {
  /**
   * Resolves when every event that is decided from now on will come; `null` where `after` is not known, or not in
   * the scope. Rejects with `Unavailable` while the stream cannot be had.
   */
  readonly subscribe: (asked: StreamRequest) => Promise<Subscription | null>;
}
