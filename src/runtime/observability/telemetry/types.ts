import type { Crossing, Verdict } from '../../../core/types/index.ts';
import type { ApiFamilyName } from '../../../core/wire/families/index.ts';
import type { WireFormat, WireUsage } from '../../../core/wire/wire-format.ts';

/**
 * Reports decisions and calls to providers to an OpenTelemetry collector. Its methods never throw and never block.
 * They report no text, except `action_shown`. Absent if telemetry is disabled.
 */
export interface Telemetry {
  /** Runs the work of one request. Spans within it join the caller's trace. */
  readonly within: <Result>(headers: TraceHeaders, run: () => Result) => Result;
  /** Records a check. Call it when its event is durable. */
  readonly recordCheck: (check: CheckRecord) => void;
  /** Starts the span of a call to a provider, as a child of the request's trace. */
  readonly startCall: (request: CallStart) => CallSpan;
  /** Sends the remaining data, for at most `telemetry.flush_ms`. Never rejects. */
  readonly close: () => Promise<void>;
}

/** The headers of a caller's request: `traceparent` and `tracestate` are read; malformed ones count as absent. */
export type TraceHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface CheckRecord {
  readonly event_id: string;
  readonly verdict: Verdict;
  readonly crossing: Crossing;
  /** The call as people see it, if `audit.export_actions` lets it leave. */
  readonly action_shown?: string | undefined;
  /** The metric label of the check, `scan_input`. */
  readonly component: string;
  /** The duration of `judge`, in whole milliseconds. */
  readonly scan_duration_ms: number;
  /** The start of the check in milliseconds of `performance.now()`. The check ends when it is recorded. */
  readonly began_ms: number;
}

/** A call to a model provider, before it is sent. */
export interface CallStart {
  readonly operation: WireFormat['operation_name'];
  readonly family: ApiFamilyName;
  /** The requested model, if it is known already; a validated name. */
  readonly model: string | null;
  readonly is_stream: boolean;
  readonly max_output_tokens: number | null;
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
}

/** A response whose headers have arrived. */
export interface CallResponse {
  /** The configured name of the provider. */
  readonly provider: string;
  /** The model that was requested from this provider, after aliases and fallbacks. */
  readonly model: string | null;
  readonly status: number;
  /** The number of attempts, including this one. */
  readonly attempts: number;
}

/** The end of a call. */
export interface CallEnd {
  /** `null` on success, else the cause: `policy_violation`, `over_budget`, `upstream_timeout`, `429`. */
  readonly error: string | null;
  /** The provider's metadata of its response; `null` if the call did not get so far. */
  readonly id: string | null;
  readonly model: string | null;
  readonly finish_reasons: readonly string[];
  readonly usage: WireUsage | null;
  /** The cost in millionths of a US dollar; `null` if nothing was charged. */
  readonly micro_usd: number | null;
}

/** The span of one call to a provider. Its methods may be called in any order; calls after the end are ignored. */
export interface CallSpan {
  /** Runs work that belongs to the call. Checks within it become children of its span. */
  readonly within: <Result>(run: () => Result) => Result;
  /** Returns the caller's headers (alternating names and values) for the provider, with this span as the parent. */
  readonly headersFor: (headers: readonly string[]) => readonly string[];
  /** Sets the requested model: a validated name, or `null` if it must not be reported. */
  readonly setModel: (model: string | null) => void;
  readonly answered: (answer: CallResponse) => void;
  /** Records the first chunk of a response from the provider; ignores later ones. */
  readonly chunk: () => void;
  /** Ends the span, once. */
  readonly end: (end: CallEnd) => void;
}
