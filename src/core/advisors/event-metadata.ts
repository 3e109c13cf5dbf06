import { parseFoundTags } from '../review/found-tags.ts';
import { ACTIONS, BOUNDARIES, DECISIONS, PHASES, SEVERITIES } from '../types/index.ts';
import type { NameAliases } from './aliases.ts';
import { stripBannedKeys } from './data-filter.ts';
import { filterRuleName, filterTags, type PromptVocabulary } from './vocabulary.ts';

/**
 * An audit event, as far as a prompt may use it, with its time as `timestamp_ms`. Every other field may hold anything.
 */
export type UnsafeEvent = Readonly<Record<string, unknown>>;

/** The metadata of an event that a prompt holds. Each field is one of a known list, a number, or an alias. */
export interface EventMetadata {
  readonly seconds_from_event: number | null;
  readonly boundary: string | null;
  readonly phase: string | null;
  readonly decision: string | null;
  readonly action: string | null;
  readonly rule: string;
  /** The reason of the rule in the policy; `null` if the policy has no such rule. */
  readonly reason: string | null;
  readonly data_tags: readonly string[];
  readonly agent: string | null;
  readonly source_agent: string | null;
  readonly destination_agent: string | null;
  readonly tool: string | null;
  readonly is_same_session: boolean;
  readonly coverage: string | null;
  readonly detectors: readonly string[];
  readonly severities: readonly string[];
  readonly findings: number | null;
  readonly calls_last_minute: number | null;
  readonly text_bytes: number | null;
  readonly session_tags: readonly string[];
  readonly declared_tags: readonly string[];
  readonly violations: readonly string[];
  readonly approval_status: string | null;
  readonly monitored_action: string | null;
}

/** The event that others are compared with. */
export interface EventReference {
  readonly timestamp_ms: number;
  readonly session_id: unknown;
}

/**
 * Returns the metadata of an event that may be sent. Only the fields above are read, so a new field of events is not
 * sent until it is added here.
 */
export function sanitizeEvent(
  unsafe: UnsafeEvent,
  reference: EventReference,
  vocabulary: PromptVocabulary,
  aliases: NameAliases,
): EventMetadata {
  const event = stripBannedKeys(unsafe) as UnsafeEvent;
  const metadata = asRecord(event.metadata);
  return {
    seconds_from_event: computeSecondsFrom(event.timestamp_ms, reference.timestamp_ms),
    boundary: getOne(event.boundary, [...BOUNDARIES, 'memory']),
    phase: getOne(metadata.phase, SENT_PHASES),
    decision: getOne(event.decision, DECISIONS),
    action: getOne(event.action, ACTIONS),
    rule: filterRuleName(event.policy_name, vocabulary),
    reason: (typeof event.policy_name === 'string' && vocabulary.rules.get(event.policy_name)) || null,
    data_tags: filterTags(event.data_tags, vocabulary),
    agent: aliases.send('agent', event.agent_id),
    source_agent: aliases.send('agent', event.source_agent_id),
    destination_agent: aliases.send('agent', event.destination_agent_id),
    tool: aliases.send('tool', event.tool_name),
    is_same_session: typeof event.session_id === 'string' && event.session_id === reference.session_id,
    coverage: getOne(event.coverage, ['full', 'partial']),
    detectors: listKnown(metadata.detectors, vocabulary.detectors),
    severities: readSeverities(metadata.found_tags),
    findings: boundNumber(metadata.findings),
    calls_last_minute: boundNumber(metadata.calls_last_minute),
    text_bytes: boundNumber(metadata.text_bytes),
    session_tags: filterTags(metadata.session_tags, vocabulary),
    declared_tags: filterTags(metadata.declared_tags, vocabulary),
    violations: readViolations(metadata.violations, vocabulary),
    approval_status: getOne(metadata.approval_status, APPROVAL_STATES),
    monitored_action: getOne(metadata.monitored_action, ACTIONS),
  };
}

const SENT_PHASES = [...PHASES, 'memory_write', 'memory_read', 'handle_resolve', 'policy_reload'];
const APPROVAL_STATES = ['pending', 'approved', 'denied', 'expired', 'cancelled', 'used'];

function asRecord(value: unknown): UnsafeEvent {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as UnsafeEvent) : {};
}

function getOne(value: unknown, known: readonly string[]): string | null {
  return typeof value === 'string' && known.includes(value) ? value : null;
}

function listKnown(value: unknown, known: ReadonlySet<string>): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, 50).filter((each): each is string => typeof each === 'string' && known.has(each));
}

/** Rounded to two digits, because an exact number can be data too. */
function boundNumber(value: unknown): number | null {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > 1_000_000_000)
    return null;
  return value < 100 ? value : Number(value.toPrecision(2));
}

const DAY_SECONDS = 86_400;

function computeSecondsFrom(atMs: unknown, referenceMs: number): number | null {
  const seconds = typeof atMs === 'number' ? Math.round((atMs - referenceMs) / 1_000) : Number.NaN;
  return Math.abs(seconds) <= DAY_SECONDS ? seconds : null;
}

function readSeverities(recorded: unknown): readonly string[] {
  const found = parseFoundTags(recorded).map((kind) => kind?.severity);
  return SEVERITIES.filter((severity) => found.includes(severity));
}

const VIOLATION = /^([a-z_]{1,40}):(.{1,200})$/;

function readViolations(written: unknown, vocabulary: PromptVocabulary): readonly string[] {
  if (!Array.isArray(written)) return [];
  return written.slice(0, 20).flatMap((each) => {
    const [, type, rule] = (typeof each === 'string' && VIOLATION.exec(each)) || [];
    if (type === undefined || !VIOLATION_NAMES.has(type)) return [];
    return [`${type}: ${filterRuleName(rule, vocabulary)}`];
  });
}

const VIOLATION_NAMES: ReadonlySet<string> = new Set([
  'secret_detected',
  'pii_detected',
  'injection_detected',
  'dangerous_command',
  'content_detected',
  'contract_violation',
  'identity_violation',
  'flow_violation',
  'coverage_exceeded',
]);
