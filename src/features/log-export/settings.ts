// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import type { Static } from 'typebox';
import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { DECISIONS } from '../../core/types/index.ts';
import { nameListSchema, urlSchema } from '../../platform/schema-parts.ts';
import { defineConfigSection } from '../../runtime/config/sections.ts';

declare module '../../runtime/config/schema.ts' {
  interface FeatureSections {
    readonly log_export: Static<typeof logExportSchema>;
  }
}

/** `log_export`: the audit log as OTLP logs for a collector. */
const logExportSchema = buildSection(
  {
    endpoint: Type.Optional({
      ...urlSchema,
      description:
        'Base address of an OpenTelemetry collector; `/v1/logs` is added. Without it, nothing is exported.',
    }),
    headers: Type.Record(Type.String(), Type.String({ maxLength: 8192, 'x-credential': true }), {
      description:
        'Headers for the collector, such as its credential, as references: `authorization: ${OTLP_TOKEN}`.',
      propertyNames: { pattern: '^[A-Za-z0-9_.-]{1,128}$' },
      maxProperties: 32,
      default: {},
    }),
    decisions: Type.Array(buildEnum(DECISIONS, {}), {
      maxItems: DECISIONS.length,
      default: [],
      description: 'Exports only events with one of these decisions; all by default.',
    }),
    tenants: {
      ...nameListSchema,
      default: [],
      description: 'Exports only events of these tenants; all by default.',
    },
    timeout_ms: Type.Integer({
      minimum: 100,
      maximum: 60_000,
      default: 10_000,
      description: 'Time limit for one batch, in milliseconds.',
    }),
  },
  {
    description:
      'Every event of the audit log for an OpenTelemetry collector, as OTLP logs with OCSF bodies and without any text ([guide](../how-to/export-the-audit-log.md)). A change needs a restart.',
    default: {},
  },
);

export const logExportSection = defineConfigSection({
  name: 'log_export',
  after: 'telemetry',
  schema: logExportSchema,
  is_unused_by_decisions: true,
  listAddresses: ({ headers, endpoint }) => [
    [Object.keys(headers).length > 0, endpoint, ['endpoint'], 'the headers'],
  ],
});
