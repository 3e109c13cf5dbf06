import { hash } from 'node:crypto';
import { UNLIMITED, walkContent } from '../../../core/json/walk.ts';
import { canonicalizeJson } from '../../../core/policy/compile/canonical-json.ts';
import type { Content, Crossing } from '../../../core/types/index.ts';

/** What an approval is good for: one crossing by one agent, and no other. */
export interface ApprovalBinding {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly source_agent_id: string | null;
  readonly destination_agent_id: string | null;
  readonly session_id: string | null;
  readonly tool_name: string | null;
  readonly boundary: string;
  readonly phase: string | null;
  readonly arguments_hash: string;
}

/** The binding of a crossing; its content goes in as the SHA-256, in hex, of the canonical JSON (RFC 8785). */
export function buildBinding(crossing: Crossing): ApprovalBinding {
  const { content } = crossing;
  const text = `${canonicalizeJson(content.kind === 'text' ? content.text : content.value)}${longNumbers(content)}`;
  return {
    tenant_id: crossing.tenant_id,
    agent_id: crossing.agent_id,
    source_agent_id: crossing.source_agent_id,
    destination_agent_id: crossing.destination_agent_id,
    session_id: crossing.session_id,
    tool_name: crossing.tool,
    boundary: crossing.boundary,
    phase: crossing.phase,
    arguments_hash: hash('sha256', text, 'hex'),
  };
}

/**
 * The numbers of which a double keeps not all digits, with their places: two calls that differ in one of these are not the
 * same call, though RFC 8785 writes both alike. Empty for most contents.
 */
function longNumbers(content: Content): string {
  if (content.kind === 'text' || content.source === undefined) return '';
  const found: string[] = [];
  walkContent(content, UNLIMITED, ({ kind, text, path }) => {
    if (kind === 'number' && text.length > EXACT_DIGITS && text !== String(Number(text)))
      found.push(`\n${path()} ${text}`);
  });
  return found.sort().join('');
}

/** A decimal number of up to this many digits is kept by a double. */
const EXACT_DIGITS = 15;

/** What an approval was given for, as a sentence says it, in the order in which it is compared. */
const PARTS: readonly (readonly [keyof ApprovalBinding, string])[] = [
  ['tenant_id', 'tenant'],
  ['agent_id', 'agent'],
  ['source_agent_id', 'source agent'],
  ['destination_agent_id', 'destination agent'],
  ['tool_name', 'tool'],
  ['session_id', 'session'],
  ['boundary', 'boundary'],
  ['phase', 'phase'],
  ['arguments_hash', 'set of arguments'],
];

/** The first part in which two bindings differ, in words: `tool`; `null` where they are the same. */
export function findBindingDifference(one: ApprovalBinding, other: ApprovalBinding): string | null {
  return PARTS.find(([field]) => one[field] !== other[field])?.[1] ?? null;
}

/**
 * What is the same for requests that are one while they wait. A person's own call is never one with that of an
 * agent: nobody could tell any more whose request it is.
 */
export function buildPendingKey(
  binding: ApprovalBinding,
  rules: readonly string[],
  person: string | null,
): string {
  return hash('sha256', canonicalizeJson({ ...binding, rules: rules.toSorted(), person }), 'hex');
}
