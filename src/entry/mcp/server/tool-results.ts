import type { CallToolResult } from '@modelcontextprotocol/server';
import { type AnyOperation, isDecisionOperation } from '../../../operations/operation.ts';
import { FAULT, isFaultVerdict } from '../../web/errors.ts';

/** An expected error, local or from the running service. */
export interface ExpectedRefusal {
  readonly code: string;
  readonly message: string;
  readonly details: readonly object[];
}

/**
 * Converts the answer of an operation to a tool result. A decision that is due to an internal error is an error too,
 * and still answers `block`.
 */
export function buildToolResult(output: unknown): CallToolResult {
  const result: CallToolResult = { content: [{ type: 'text', text: JSON.stringify(output) }] };
  return isFaultVerdict(output)
    ? { ...result, isError: true }
    : { ...result, structuredContent: Object.fromEntries(Object.entries(output ?? {})) };
}

/**
 * Converts a refusal to a tool result and not to a protocol error, so that the agent reads the reason and continues.
 */
export function buildRefusalResult({ code, message, details }: ExpectedRefusal): CallToolResult {
  return buildErrorResult({ error: message, code, ...(details.length > 0 && { details }) });
}

/** Converts an internal error to a tool result. If the operation answers with a decision, the result blocks. */
export function buildFaultResult(operation: AnyOperation): CallToolResult {
  const blocked = isDecisionOperation(operation) ? { decision: 'block' } : {};
  return buildErrorResult({ error: FAULT, code: 'internal_error', ...blocked });
}

/** Omits `structuredContent`, because it must match the tool's output schema, which has no errors. */
function buildErrorResult(stated: object): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(stated) }] };
}
