import type { Action, Boundary, Decision } from '../../../src/core/types/index.ts';

/** The values of an event, in the order in which filters show them. */
export const ACTION_NAMES: readonly Action[] = ['block', 'require_approval', 'redact', 'flag', 'allow'];
export const DECISION_NAMES: readonly Decision[] = ['block', 'modify', 'allow'];
export const BOUNDARY_NAMES: readonly (Boundary | 'memory')[] = ['input', 'output', 'action', 'memory'];
