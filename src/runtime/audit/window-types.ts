import type { CountField } from './count-types.ts';

/** A window of the audit log, exact to the millisecond, and the events in it that a caller may read. */
export interface EventWindow {
  /** Inclusive; milliseconds since 1970. */
  readonly since_ms: number;
  /** Exclusive. */
  readonly until_ms: number;
  /** The tenants and agents whose events count; `*` for all. */
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
}

/** The number of events that have the same value of one field, decision and action. */
export interface WindowCount {
  readonly value: string;
  readonly decision: string;
  readonly action: string;
  readonly count: number;
  readonly first_ms: number;
  readonly last_ms: number;
}

/** The counts of a window by field. The events of approval requests and of self-tests are left out. */
export type WindowCounts = Readonly<Partial<Record<CountField, readonly WindowCount[]>>>;

/** A time in which decisions were made under one policy. */
export interface PolicyInterval {
  readonly policy_hash: string;
  /** Its first event in the window, or the beginning of the window if it was active before. */
  readonly from_ms: number;
  /** Exclusive: the first event of the policy that replaced it, or the end of the window. */
  readonly to_ms: number;
}

/** An approval request of a window, as its events tell it. */
export interface ApprovalHistory {
  readonly request_id: string;
  readonly requested_ms: number;
  /** The last status in the window: `pending`, `approved`, `denied`, `expired`, `cancelled` or `consumed`. */
  readonly status: string;
  /** The time of the approval or the denial; `null` if there was none in the window. */
  readonly decided_ms: number | null;
}

/** A signed checkpoint of a writer's chain. */
export interface SignedCheckpoint {
  readonly writer: string;
  /** The number and the hash of the checkpoint's own line. */
  readonly seq: number;
  readonly record_hash: string;
  readonly timestamp: string;
  readonly key_id: string;
  /** Ed25519, base64, over the chain before the checkpoint. */
  readonly signature: string;
}

/** The state of a writer's chain at the end of a window. */
export interface ChainState {
  readonly writer: string;
  /**
   * The first checkpoint after the window, which signs all of its events; the last one if there is none yet; `null`
   * for a chain that has no checkpoint.
   */
  readonly checkpoint: SignedCheckpoint | null;
  /** `true` if the checkpoint signs all events of the window. */
  readonly covers_window: boolean;
}

/** Queries of a window of the audit log. Each one finds every event that was durable before the call. */
export interface WindowQueries {
  /** Counts the events by each of some fields. */
  readonly countFields: (window: EventWindow, fields: readonly CountField[]) => Promise<WindowCounts>;
  /** Lists the policies under which the service decided, for all tenants, by their first time. */
  readonly listPolicyIntervals: (
    window: Pick<EventWindow, 'since_ms' | 'until_ms'>,
  ) => Promise<readonly PolicyInterval[]>;
  /** Lists the approval requests that were made in the window, oldest first. */
  readonly listApprovalHistories: (window: EventWindow) => Promise<readonly ApprovalHistory[]>;
  /** Lists the chains that have records from before the end of the window, by writer. */
  readonly listChainStates: (untilMs: number) => Promise<readonly ChainState[]>;
  /** Returns the time of the oldest event that is kept; `null` if there is none. */
  readonly findOldestEvent: () => Promise<number | null>;
}
