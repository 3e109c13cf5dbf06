import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { AnyOperation } from '../../../operations/operation.ts';
import { openStdioInput, openStdioTransport } from '../stdio-input.ts';
import { type LocalOperationsOptions, openLocalOperations } from './local-operations.ts';
import { createToolServer } from './server.ts';
import type { ExpectedRefusal } from './tool-results.ts';

export interface StdioOptions extends LocalOperationsOptions {
  readonly expected: (error: unknown) => ExpectedRefusal | null;
  readonly fault: (error: unknown, operation: AnyOperation) => void;
}

/** Serves the tools on standard input and output until the input ends and its requests are answered. No other code may write to the output. */
export async function serveToolsOnStdio(options: StdioOptions): Promise<void> {
  const runner = openLocalOperations(options);
  const input = openStdioInput(process.stdin);
  const transport = openStdioTransport(input.stream, process.stdout, (line) => line);
  const { version, expected, fault } = options;
  const handle = serveStdio(() => createToolServer({ version, run: runner.run, expected, fault }), {
    transport,
  });
  input.watch(transport);
  await input.ended;
  await handle.close();
  await runner.close();
}
