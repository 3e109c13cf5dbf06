import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { PRODUCT_NAME } from '../../../core/names.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import {
  buildFaultResult,
  buildRefusalResult,
  buildToolResult,
  type ExpectedRefusal,
} from './tool-results.ts';
import { findTool, listOperationTools } from './tools.ts';

/** The functions with which a transport runs operations. */
export interface ToolServerPorts {
  readonly version: string;
  /** Runs an operation for the client. Rejects with an error that `expected` recognizes, or with a fault. */
  readonly run: (operation: AnyOperation, input: unknown) => Promise<unknown>;
  /** Returns the refusal for an expected error; `null` for an internal error. */
  readonly expected: (error: unknown) => ExpectedRefusal | null;
  /** Reports an internal error to the log. */
  readonly fault: (error: unknown, operation: AnyOperation) => void;
}

const INSTRUCTIONS =
  'Checks texts, tool calls and their results against the policy of this organisation. Call `scan_input` before you use text from outside, `guard_output` before you show an answer, and `intercept_tool` before a tool runs and again with its result. If `decision` is `block`, stop; if it is `modify`, use the modified value of the response. Only an approver can approve: give the user the `request_id` and wait.';

/** Time for which clients may cache the tool list, in milliseconds. It changes only with the version of the program. */
const LIST_KEPT_MS = 300_000;

/**
 * Creates a server for one connection or one request, depending on the transport. It serves both protocol revisions.
 */
export function createToolServer(asking: ToolServerPorts): Server {
  const server = new Server(
    { name: 'service', title: PRODUCT_NAME, version: asking.version },
    {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      cacheHints: { 'tools/list': { ttlMs: LIST_KEPT_MS, cacheScope: 'public' } },
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: listOperationTools() }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const operation = findTool(params.name);
    if (operation === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such tool: see `tools/list`.');
    try {
      return buildToolResult(await asking.run(operation, params.arguments ?? {}));
    } catch (error) {
      const stated = asking.expected(error);
      if (stated !== null) return buildRefusalResult(stated);
      asking.fault(error, operation);
      return buildFaultResult(operation);
    }
  });
  return server;
}
