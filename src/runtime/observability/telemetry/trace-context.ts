import type { SpanContext, TraceState } from '@opentelemetry/api';
import type { TraceHeaders } from './types.ts';

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const TRACESTATE_UNITS_MAX = 512;
const SAMPLED = 1;

/**
 * The span that a caller is in, by the headers of W3C Trace Context; `null` where they name none. A caller is not
 * trusted: whatever is not exactly of that shape is none.
 *
 * @param readState - reads what vendors keep there
 */
export function parseCallerSpan(
  { traceparent, tracestate }: TraceHeaders,
  readState: (text: string) => TraceState,
): SpanContext | null {
  if (typeof traceparent !== 'string' || traceparent.length > 256) return null;
  const [, version = '', trace_id = '', span_id = '', flags = '', more] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === '' || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(trace_id) || /^0+$/.test(span_id)) return null;
  const state = [tracestate ?? []].flat().join(',');
  const kept = state === '' || state.length > TRACESTATE_UNITS_MAX ? {} : { traceState: readState(state) };
  return {
    traceId: trace_id,
    spanId: span_id,
    traceFlags: Number.parseInt(flags, 16) & SAMPLED,
    isRemote: true,
    ...kept,
  };
}

/** The headers of a request, names and values by turns, with a span of ours in place of the caller's. */
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
