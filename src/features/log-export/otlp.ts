import { PRODUCT_NAME } from '../../core/names.ts';
import type { OcsfEvent } from './ocsf.ts';

/** The facts of one log record that are not in its body. */
export interface LogRecord {
  readonly time_ms: number;
  readonly observed_ms: number;
  /** `severity_id` of OCSF: 1 informational to 5 critical. */
  readonly severity_id: number;
  /** 32 hexadecimal digits; `undefined` without a trace. */
  readonly trace_id: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  readonly body: OcsfEvent;
}

/** The `SeverityNumber` of OTLP and its short name, by `severity_id` of OCSF. */
const SEVERITIES: readonly (readonly [number, string])[] = [
  [0, 'UNSPECIFIED'],
  [9, 'INFO'],
  [10, 'INFO2'],
  [13, 'WARN'],
  [17, 'ERROR'],
  [21, 'FATAL'],
];

const TRACE_ID = /^[0-9a-f]{32}$/;

/** Encodes a batch as the JSON of an OTLP request, `ExportLogsServiceRequest` (opentelemetry.io/docs/specs/otlp). */
export function encodeLogs(
  records: readonly LogRecord[],
  resource: Readonly<Record<string, string>>,
  version: string,
): string {
  return JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: encodeMembers(resource) },
        scopeLogs: [
          { scope: { name: PRODUCT_NAME.toLowerCase(), version }, logRecords: records.map(encodeRecord) },
        ],
      },
    ],
  });
}

function encodeRecord({ time_ms, observed_ms, severity_id, trace_id, attributes, body }: LogRecord): object {
  const [number, name] = SEVERITIES[severity_id] ?? SEVERITIES[0]!;
  return {
    timeUnixNano: formatNanoseconds(time_ms),
    observedTimeUnixNano: formatNanoseconds(observed_ms),
    severityNumber: number,
    severityText: name,
    eventName: 'customshouse.audit',
    attributes: encodeMembers(attributes),
    body: encodeValue(body),
    ...(trace_id !== undefined && TRACE_ID.test(trace_id) && { traceId: trace_id }),
  };
}

/** Nanoseconds exceed what a number holds exactly, so that the format has them as a text. */
function formatNanoseconds(ms: number): string {
  return `${Math.max(0, Math.trunc(ms))}000000`;
}

function encodeMembers(members: Readonly<Record<string, unknown>>): readonly object[] {
  return Object.entries(members).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [{ key, value: encodeValue(value) }],
  );
}

/** Encodes JSON as an `AnyValue`. Events are built here and shallow, so that the recursion is bounded. */
function encodeValue(value: unknown): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value))
    return { arrayValue: { values: value.filter((each) => each != null).map(encodeValue) } };
  return { kvlistValue: { values: encodeMembers(value as Readonly<Record<string, unknown>>) } };
}
