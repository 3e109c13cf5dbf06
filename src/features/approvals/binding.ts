import { hash } from 'node:crypto';
import { UNLIMITED_WALK, walkContent } from '../../core/json/walk.ts';
import { canonicalizeJson } from '../../core/policy/compile/canonical-json.ts';
import type { Content, Crossing } from '../../core/types/index.ts';

/** The scope of an approval: one crossing by one agent. */
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

/**
 * Builds the binding of a crossing. The content enters as the SHA-256, in hex, of its canonical JSON (RFC 8785), with the
 * proved person if there is one: an approval for one person is good for no other.
 */
export function buildBinding(crossing: Crossing): ApprovalBinding {
  const { content, principal } = crossing;
  const value = canonicalizeJson(content.kind === 'text' ? content.text : content.value);
  const userId = principal?.user?.user_id;
  const person = userId === undefined ? '' : `\nperson ${JSON.stringify(userId)}`;
  const text = `${value}${listLongNumbers(content)}${person}`;
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

/** Returns whether a content has a number that a double cannot hold exactly. */
export function hasLongNumbers(content: Content): boolean {
  return listLongNumbers(content) !== '';
}

/**
 * Returns the numbers that a double cannot hold exactly, with their paths. Two calls that differ in one of them
 * are different calls, although RFC 8785 writes both alike. Empty for most contents.
 */
function listLongNumbers(content: Content): string {
  if (content.kind === 'text' || content.source === undefined) return '';
  const found: string[] = [];
  walkContent(content, UNLIMITED_WALK, ({ kind, text, path }) => {
    if (kind === 'number' && text.length > EXACT_DIGITS && text !== String(Number(text)))
      found.push(`\n${path()} ${text}`);
  });
  return found.sort().join('');
}

/** A double holds every decimal number of up to this many digits exactly. */
const EXACT_DIGITS = 15;

/** The fields of a binding with their names in messages, in the order of comparison. */
const PARTS: readonly (readonly [keyof ApprovalBinding, string])[] = [
  ['tenant_id', 'tenant'],
  ['agent_id', 'agent'],
  ['source_agent_id', 'source agent'],
  ['destination_agent_id', 'destination agent'],
  ['tool_name', 'tool'],
  ['session_id', 'session'],
  ['boundary', 'boundary'],
  ['phase', 'phase'],
  ['arguments_hash', 'set of arguments or person'],
];

/**
 * Returns the name of the first field in which two bindings differ, such as `tool`; `null` if they are equal.
 */
export function findBindingDifference(one: ApprovalBinding, other: ApprovalBinding): string | null {
  return PARTS.find(([field]) => one[field] !== other[field])?.[1] ?? null;
}

/**
 * Returns the key that equal pending requests share. A call by a user never shares a request with an agent's
 * call, because nothing could tell any more whose request it is.
 */
export function buildPendingKey(
  binding: ApprovalBinding,
  rules: readonly string[],
  approver: string | null,
): string {
  return hash('sha256', canonicalizeJson({ ...binding, rules: rules.toSorted(), approver }), 'hex');
}
