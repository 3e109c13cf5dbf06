import { ACTIONS, DECISIONS } from '../../core/types/enums.ts';
import type { ServiceApi } from '../service-api.ts';
import type { ApprovalReference, GuardOperation, GuardVerdict } from '../types.ts';

/** The names of changed content, and whether it must be text. */
const CHANGED = {
  modified_text: true,
  modified_message: true,
  modified_payload: false,
  modified_input: false,
  modified_output: false,
} as const;

const EVENT_ID = /^evt_[0-9a-f]{12,64}$/;

/**
 * Reads a verdict from an answer of the service. Returns `null` if it is not a whole answer to this operation: an
 * answer of another program must never allow anything.
 */
export function readVerdict(
  operation: GuardOperation,
  isResult: boolean,
  answer: unknown,
): GuardVerdict | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const given = answer as Partial<ServiceApi['intercept_tool']['response']> &
    Readonly<Record<string, unknown>>;
  const { decision, action, rule, reason, violations, event_id, coverage } = given;
  const isWhole =
    isOneOf(DECISIONS, decision) &&
    isOneOf(ACTIONS, action) &&
    typeof rule === 'string' &&
    typeof reason === 'string' &&
    Array.isArray(violations) &&
    typeof event_id === 'string' &&
    EVENT_ID.test(event_id) &&
    (coverage === 'full' || coverage === 'partial');
  if (!isWhole) return null;
  const changed = readChanged(operation, isResult, given);
  if (changed === null) return null;
  // Only full coverage lets anything pass.
  if (decision !== 'block' && coverage !== 'full') return null;
  const { stripped_fields, fallback_used, fault, marks } = given;
  return {
    decision,
    action,
    rule,
    reason,
    violations,
    event_id,
    coverage,
    approval: readApproval(given.approval),
    fault: fault === true,
    ...changed,
    ...(Array.isArray(stripped_fields) && { stripped_fields }),
    ...(fallback_used === true && { fallback_used }),
    ...(Array.isArray(marks) && marks.includes('data') && { marks: ['data'] as const }),
  };
}

/** Returns the changed content under its name; `null` if a `modify` has none, or has it under another name. */
function readChanged(
  operation: GuardOperation,
  isResult: boolean,
  given: Readonly<Record<string, unknown>>,
): Partial<GuardVerdict> | null {
  const name = getChangedName(operation, isResult);
  const value = given[name];
  const isUsable = value !== undefined && (!CHANGED[name] || typeof value === 'string');
  if (given.decision === 'modify') return isUsable ? { [name]: value } : null;
  return isUsable ? { [name]: value } : {};
}

function getChangedName(operation: GuardOperation, isResult: boolean): keyof typeof CHANGED {
  if (operation === 'scan_structured') return 'modified_payload';
  if (operation === 'intercept_agent_message') return 'modified_message';
  if (operation === 'intercept_tool') return isResult ? 'modified_output' : 'modified_input';
  return 'modified_text';
}

/** Reads a reference to a request for approval; `null` if there is none. */
export function readApproval(value: unknown): ApprovalReference | null {
  if (typeof value !== 'object' || value === null) return null;
  const { request_id, status, expires_at } = value as Readonly<Record<string, unknown>>;
  if (
    typeof request_id !== 'string' ||
    !/^[A-Za-z0-9_-]{1,64}$/.test(request_id) ||
    typeof status !== 'string'
  )
    return null;
  return { request_id, status, expires_at: typeof expires_at === 'string' ? expires_at : null };
}

function isOneOf<Value>(list: readonly Value[], value: unknown): value is Value {
  return (list as readonly unknown[]).includes(value);
}
