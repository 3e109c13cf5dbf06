import type { Static } from 'typebox';
import {
  ACTIONS,
  BOUNDARIES,
  DECISIONS,
  PHASES,
  SEVERITIES,
  VIOLATION_TYPES,
} from '../../core/types/index.ts';
import { dataTags, name, PRINTABLE } from '../../operations/shapes.ts';

/** Events that one batch may have. */
export const BATCH_EVENTS_MAX = 256;
/** The size of one batch as JSON, in bytes. */
export const BATCH_BYTES_MAX = 1_048_576;

const DETECTOR = '[a-z0-9][a-z0-9_.-]{0,127}';
const TAG = '[A-Za-z][A-Za-z0-9_.-]{0,127}';

const requiredName = { ...name, type: 'string', minLength: 1 } as const;
const count = { type: 'integer', minimum: 0, maximum: 1_000_000_000 } as const;
const flag = { const: true } as const;

function buildNamesSchema<const Pattern extends string>(pattern: Pattern, maxItems: number) {
  return {
    type: 'array',
    maxItems,
    items: { type: 'string', maxLength: 512, pattern: `^(?:${pattern})$` },
  } as const;
}

/**
 * The metadata that a local guard records. Each member is a number, a flag, a name or a list of names, so that no member
 * can hold a text that was judged.
 */
const reportedMetadataSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['endpoint'],
  properties: {
    calls_last_minute: count,
    coverage_bytes: count,
    declared_tags: { ...dataTags, maxItems: 100, description: 'Tags that the caller declared.' },
    detectors: buildNamesSchema(DETECTOR, 50),
    endpoint: {
      enum: ['scan_input', 'scan_structured', 'guard_output', 'intercept_tool', 'intercept_agent_message'],
      description: 'The check.',
    },
    fallback_used: flag,
    fault: flag,
    findings: count,
    found_tags: buildNamesSchema(
      `${TAG}(?:\\+${TAG})* (?:${SEVERITIES.join('|')})(?: example)? \\d{1,9}`,
      100,
    ),
    monitored: {
      ...buildNamesSchema(`${PRINTABLE}{1,256}:(?:${ACTIONS.join('|')})`, 50),
      description: 'Rules in monitor mode, each with its action.',
    },
    phase: { enum: PHASES },
    rule_ids: buildNamesSchema(DETECTOR, 50),
    session_tags: buildNamesSchema(TAG, 1_000),
    severity: { enum: SEVERITIES },
    stripped_fields_count: count,
    violations: buildNamesSchema(`(?:${VIOLATION_TYPES.join('|')}):[a-z0-9_.-]{1,128}`, 50),
  },
} as const;

export const reportedEventSchema = {
  type: 'object',
  additionalProperties: false,
  required: [
    'event_id',
    'timestamp',
    'boundary',
    'decision',
    'action',
    'policy_name',
    'policy_hash',
    'coverage',
    'agent_id',
    'metadata',
  ],
  properties: {
    event_id: {
      type: 'string',
      pattern: '^evt_[0-9a-f]{32}$',
      'x-expects': 'is `evt_` and 32 hex digits, which only the SDK makes',
    },
    timestamp: {
      type: 'string',
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
      'x-expects': 'is a time in ISO 8601 with milliseconds, in UTC',
    },
    boundary: { enum: BOUNDARIES },
    decision: { enum: DECISIONS },
    action: { enum: ACTIONS },
    policy_name: { ...requiredName, description: 'The rule that decided.' },
    policy_hash: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
    coverage: { enum: ['full', 'partial'] },
    data_tags: buildNamesSchema(TAG, 100),
    tenant_id: name,
    agent_id: requiredName,
    session_id: name,
    source_agent_id: name,
    destination_agent_id: name,
    tool_name: name,
    metadata: reportedMetadataSchema,
  },
} as const;

/** One decision of a local guard, as a program reports it. */
export type ReportedEvent = Static<typeof reportedEventSchema>;
