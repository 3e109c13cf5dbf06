/** Basic types and enums of the product. `types/index.ts` exports them too. */

/** Any JSON value, as `JSON.parse` returns it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A dotted, lower-case name of a kind of data: `secret.credential.openai`. A tag covers its descendants. */
export type Tag = string;

export const BOUNDARIES = ['input', 'output', 'action'] as const;
export type Boundary = (typeof BOUNDARIES)[number];

/** Sides of an action: a tool call, a tool result, a message between agents. */
export const PHASES = ['request', 'response', 'message'] as const;
export type Phase = (typeof PHASES)[number];

/** Actions of a rule, mildest first. If several rules match, the strictest action wins. */
export const ACTIONS = ['allow', 'flag', 'redact', 'require_approval', 'block'] as const;
export type Action = (typeof ACTIONS)[number];

export const DECISIONS = ['allow', 'block', 'modify'] as const;
export type Decision = (typeof DECISIONS)[number];

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const VIOLATION_TYPES = [
  'secret_detected',
  'pii_detected',
  'injection_detected',
  'dangerous_command',
  'content_detected',
  'contract_violation',
  'identity_violation',
  'flow_violation',
  'coverage_exceeded',
] as const;
export type ViolationType = (typeof VIOLATION_TYPES)[number];

/**
 * Names of the checks that a custom pattern can apply to a matched value. They are implemented in
 * `detect/matching/custom/checks.ts`.
 */
export const CHECK_NAMES = [
  'luhn',
  'mod97',
  'mod11_2',
  'mod11_10',
  'verhoeff',
  'not_repeated',
  'not_placeholder',
] as const;
export type CheckName = (typeof CHECK_NAMES)[number];
