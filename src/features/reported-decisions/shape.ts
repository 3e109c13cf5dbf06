import type { Static } from 'typebox';
import { Type } from '../../core/schema.ts';
import {
  ACTIONS,
  BOUNDARIES,
  DECISIONS,
  PHASES,
  SEVERITIES,
  VIOLATION_TYPES,
} from '../../core/types/index.ts';
import { dataTags, name, PRINTABLE, PRINTABLE_TEXT, principalProperties } from '../../operations/shapes.ts';

/** Events that one batch may have. */
export const BATCH_EVENTS_MAX = 256;
/** The size of one batch as JSON, in bytes. */
export const BATCH_BYTES_MAX = 1_048_576;

const DETECTOR = '[a-z0-9][a-z0-9_.-]{0,127}';
const TAG = '[A-Za-z][A-Za-z0-9_.-]{0,127}';

const requiredName = Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT });
const count = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });
const flag = Type.Literal(true);

function buildNamesSchema<const Pattern extends string>(pattern: Pattern, maxItems: number) {
  return Type.Array(Type.String({ maxLength: 512, pattern: `^(?:${pattern})$` }), { maxItems });
}

/** The person, under the name that a guard in process records, because it proves none. */
const { user_id: claimedUser, ...work } = principalProperties;

/**
 * The metadata that a local guard records. Each member is a number, a flag, a name or a list of names, so that no member
 * can hold a text that was judged.
 */
const reportedMetadataSchema = Type.Object(
  {
    calls_last_minute: Type.Optional(count),
    coverage_bytes: Type.Optional(count),
    declared_tags: Type.Optional({
      ...dataTags,
      maxItems: 100,
      description: 'Tags that the caller declared.',
    }),
    detectors: Type.Optional(buildNamesSchema(DETECTOR, 50)),
    endpoint: Type.Enum(
      ['scan_input', 'scan_structured', 'guard_output', 'intercept_tool', 'intercept_agent_message'],
      { description: 'The check.' },
    ),
    fallback_used: Type.Optional(flag),
    fault: Type.Optional(flag),
    findings: Type.Optional(count),
    found_tags: Type.Optional(
      buildNamesSchema(`${TAG}(?:\\+${TAG})* (?:${SEVERITIES.join('|')})(?: example)? \\d{1,9}`, 100),
    ),
    monitored: Type.Optional({
      ...buildNamesSchema(`${PRINTABLE}{1,256}:(?:${ACTIONS.join('|')})`, 50),
      description: 'Rules in monitor mode, each with its action.',
    }),
    phase: Type.Optional(Type.Enum(PHASES)),
    rule_ids: Type.Optional(buildNamesSchema(DETECTOR, 50)),
    session_tags: Type.Optional(buildNamesSchema(TAG, 1_000)),
    severity: Type.Optional(Type.Enum(SEVERITIES)),
    stripped_fields_count: Type.Optional(count),
    violations: Type.Optional(buildNamesSchema(`(?:${VIOLATION_TYPES.join('|')}):[a-z0-9_.-]{1,128}`, 50)),
  },
  { additionalProperties: false },
);

export const reportedEventSchema = Type.Object(
  {
    event_id: Type.String({
      pattern: '^evt_[0-9a-f]{32}$',
      'x-expects': 'is `evt_` and 32 hex digits, which only the SDK makes',
    }),
    timestamp: Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
      'x-expects': 'is a time in ISO 8601 with milliseconds, in UTC',
    }),
    boundary: Type.Enum(BOUNDARIES),
    decision: Type.Enum(DECISIONS),
    action: Type.Enum(ACTIONS),
    policy_name: { ...requiredName, description: 'The rule that decided.' },
    policy_hash: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
    coverage: Type.Enum(['full', 'partial']),
    data_tags: Type.Optional(buildNamesSchema(TAG, 100)),
    tenant_id: Type.Optional(name),
    agent_id: requiredName,
    session_id: Type.Optional(name),
    source_agent_id: Type.Optional(name),
    destination_agent_id: Type.Optional(name),
    tool_name: Type.Optional(name),
    claimed_user: claimedUser,
    ...work,
    metadata: reportedMetadataSchema,
  },
  { additionalProperties: false },
);

/** One decision of a local guard, as a program reports it. */
export type ReportedEvent = Static<typeof reportedEventSchema>;
