import type { CallToolResult } from '@modelcontextprotocol/server';
import { type AnyOperation, isDecisionOperation } from '../../../operations/operation.ts';
import { FAULT } from '../../web/errors.ts';

/** An expected no, whichever road it came by. */
export interface ExpectedRefusal {
  readonly code: string;
  readonly message: string;
  readonly details: readonly object[];
}

/** What an operation answered. A decision that is a fault of ours is an error too, and still says `block`. */
export function answer(output: object): CallToolResult {
  const result: CallToolResult = { content: [{ type: 'text', text: JSON.stringify(output) }] };
  const is_fault = (output as { fault?: true }).fault === true;
  return is_fault ? { ...result, isError: true } : { ...result, structuredContent: { ...output } };
}

/** An expected no: a result and no error of the protocol, so that whoever called reads why and goes on. */
export function refused({ code, message, details }: ExpectedRefusal): CallToolResult {
  return failed({ error: message, code, ...(details.length > 0 && { details }) });
}

/** A fault of ours. Where a decision was asked for, the answer is one, and it blocks. */
export function faulted(operation: AnyOperation): CallToolResult {
  const blocked = isDecisionOperation(operation) ? { decision: 'block' } : {};
  return failed({ error: FAULT, code: 'internal_error', ...blocked });
}

/** Without `structuredContent`: that has to fit the tool's output schema, which says nothing of errors. */
function failed(said: object): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(said) }] };
}
