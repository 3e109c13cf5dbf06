import { EXIT } from '../../operations/cli-kit/command-failure.ts';
import type { Terminal } from '../../operations/cli-kit/terminal.ts';
import { findProgramName } from './program-name.ts';

/**
 * Returns the terminal of this process. A reader that stops reading (`| head`) ends the program without an error
 * message.
 */
export function openProcessTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endOnClosedPipe);
  return {
    name: findProgramName({
      script: process.argv[1] ?? '',
      cwd: process.cwd(),
      launcher: process.env.SERVICE_NAME,
    }),
    cwd: process.cwd(),
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    interactive: process.stdin.isTTY === true && process.stdout.isTTY === true,
    exit_code: EXIT.done,
  };
}

function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  throw error;
}
