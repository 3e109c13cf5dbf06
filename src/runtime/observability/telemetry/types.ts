import type { Crossing, Verdict } from '../../../core/types/index.ts';
import type { ProviderFamily, WireFormat, WireUsage } from '../../../core/wire/wire-format.ts';

/**
 * Tells an OpenTelemetry collector what was decided and what calls to providers took. Telling it never throws,
 * never waits, and hands on no text. There is none where telemetry is off.
 */
export interface Telemetry {
  /** Runs what one request asks for: all that is told of meanwhile belongs to the trace of who called. */
  readonly within: <Result>(headers: TraceHeaders, run: () => Result) => Result;
  /** Told of each check when its event is durable. */
  readonly recordCheck: (check: CheckRecord) => void;
  /** Begins the span of a call to a provider, as a child of the request's trace. */
  readonly startCall: (asked: CallStart) => CallSpan;
  /** Sends what is left, for `telemetry.flush_ms` at most. Never rejects. */
  readonly close: () => Promise<void>;
}

/** The headers of a caller's request: `traceparent` and `tracestate` are read, and what is malformed counts as absent. */
export type TraceHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface CheckRecord {
  readonly event_id: string;
  readonly verdict: Verdict;
  readonly crossing: Crossing;
  /** The metric label of the check, `scan_input`. */
  readonly component: string;
  /** Whole milliseconds that `judge` took. */
  readonly scan_duration_ms: number;
  /** Milliseconds as of `performance.now()` at which the check began; it ends now. */
  readonly began_ms: number;
}

/** A call to a model provider, before it is sent. */
export interface CallStart {
  readonly operation: WireFormat['operation_name'];
  readonly family: ProviderFamily;
  /** What is asked for, where that is known already: a name that was looked at. */
  readonly model: string | null;
  readonly is_stream: boolean;
  readonly max_output_tokens: number | null;
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
}

/** An answer whose headers are there. */
export interface CallResponse {
  /** The configured name of the provider. */
  readonly provider: string;
  /** The model that was asked for there, after aliases and fallbacks. */
  readonly model: string | null;
  readonly status: number;
  /** Tries in all, this one included. */
  readonly attempts: number;
}

/** How a call ended. */
export interface CallEnd {
  /** `null` where all went well, else why not: `policy_violation`, `over_budget`, `upstream_timeout`, `429`. */
  readonly error: string | null;
  /** What the provider said of its answer; `null` where it did not get so far. */
  readonly id: string | null;
  readonly model: string | null;
  readonly finish_reasons: readonly string[];
  readonly usage: WireUsage | null;
  /** Millionths of a US dollar; `null` where nothing was booked. */
  readonly micro_usd: number | null;
}

/** The span of one call to a provider. Everything may be told in any order and after the end, when it is not heard. */
export interface CallSpan {
  /** Runs what belongs to the call: checks within it are children of its span. */
  readonly within: <Result>(run: () => Result) => Result;
  /** The headers for the provider, names and values by turns: the caller's, with this span as the parent of what is there. */
  readonly headersFor: (headers: readonly string[]) => readonly string[];
  /** The model that is asked for: a name that was looked at, or `null` where none may be told. */
  readonly asks: (model: string | null) => void;
  readonly answered: (answer: CallResponse) => void;
  /** The first piece of an answer came from the provider; later ones are not heard. */
  readonly chunk: () => void;
  /** Ends the span; once. */
  readonly end: (end: CallEnd) => void;
}
