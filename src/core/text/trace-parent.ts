const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** Returns the trace that a `traceparent` of W3C Trace Context names; `null` if it names none. */
export function readTraceId(traceparent: string): string | null {
  return TRACEPARENT.exec(traceparent)?.[1] ?? null;
}
