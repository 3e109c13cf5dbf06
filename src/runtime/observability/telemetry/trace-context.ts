import type { SpanContext, TraceState } from '@opentelemetry/api';
import type { TraceHeaders } from './types.ts';

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const TRACESTATE_UNITS_MAX = 512;
const SAMPLED = 1;

/**
 * Parses the caller's span from W3C Trace Context headers; `null` if there is none. Callers are not trusted, so a
 * malformed header counts as absent.
 *
 * @param readState - parses the vendor entries of `tracestate`
 */
export function parseCallerSpan(
  { traceparent, tracestate }: TraceHeaders,
  readState: (text: string) => TraceState,
): SpanContext | null {
  if (typeof traceparent !== 'string' || traceparent.length > 256) return null;
  const [, version = '', traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === '' || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const state = [tracestate ?? []].flat().join(',');
  const kept = state === '' || state.length > TRACESTATE_UNITS_MAX ? {} : { traceState: readState(state) };
  return {
    traceId: traceId,
    spanId: spanId,
    traceFlags: Number.parseInt(flags, 16) & SAMPLED,
    isRemote: true,
    ...kept,
  };
}

/** Replaces the trace headers in a list of alternating names and values by those of our span. */
export function replaceTraceHeaders(headers: readonly string[], span: SpanContext): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (!TRACE_HEADERS.has(headers[at]!.toLowerCase())) kept.push(headers[at]!, headers[at + 1]!);
  }
  const flags = span.traceFlags.toString(16).padStart(2, '0');
  kept.push('traceparent', `00-${span.traceId}-${span.spanId}-${flags}`);
  const state = span.traceState?.serialize() ?? '';
  return state === '' ? kept : [...kept, 'tracestate', state];
}

const TRACE_HEADERS: ReadonlySet<string> = new Set(['traceparent', 'tracestate']);
