// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { buildSection, Type } from '../../core/schema.ts';
import { urlSchema } from '../../platform/schema-parts.ts';

/** `telemetry`: traces and metrics for an OpenTelemetry collector. */
export const telemetrySchema = buildSection(
  {
    enabled: Type.Boolean({
      default: false,
      description: 'Off unless you switch it on: then decisions, without any text, are sent to `endpoint`.',
    }),
    endpoint: Type.Optional({
      ...urlSchema,
      description:
        'Base address of the collector; `/v1/traces` and `/v1/metrics` are added. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`, else `http://localhost:4318`.',
    }),
    headers: Type.Record(Type.String(), Type.String({ maxLength: 8192, 'x-credential': true }), {
      description:
        'Headers for the collector, such as its credential, as references: `authorization: ${OTLP_TOKEN}`.',
      propertyNames: { pattern: '^[A-Za-z0-9_.-]{1,128}$' },
      maxProperties: 32,
      default: {},
    }),
    service_name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'Name of this service there. Default: `OTEL_SERVICE_NAME`, else `customshouse`.',
      }),
    ),
    traces: Type.Boolean({ default: true, description: 'Sends spans.' }),
    metrics: Type.Boolean({ default: true, description: 'Sends metrics.' }),
    content_hash_key: Type.Optional(
      Type.String({
        maxLength: 1024,
        'x-credential': true,
        description:
          'Key for an HMAC of the checked content, so that equal contents can be recognised. Without it no hash is sent.',
      }),
    ),
    timeout_ms: Type.Integer({
      minimum: 100,
      maximum: 60_000,
      default: 10_000,
      description: 'Time limit for one batch, in milliseconds.',
    }),
    queue_spans_max: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 2_048,
      description: 'Spans that wait in one process; further ones are dropped.',
    }),
    interval_ms: Type.Integer({
      minimum: 100,
      maximum: 3_600_000,
      default: 60_000,
      description: 'Interval between exports of metrics, in milliseconds.',
    }),
    flush_ms: Type.Integer({
      minimum: 0,
      maximum: 5_000,
      default: 2_000,
      description: 'Time limit for the last export when the service stops, in milliseconds.',
    }),
  },
  {
    description:
      'Traces and metrics for an OpenTelemetry collector, over OTLP/HTTP; see [guide](../how-to/export-telemetry.md). The standard variables `OTEL_*` set the defaults. A change needs a restart.',
    default: {},
  },
);
