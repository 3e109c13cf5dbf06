import { spawn } from 'node:child_process';
import type { HookOutput } from '../record/doctor.ts';
import type { HookSurroundings } from './check-hook.ts';
import type { OwnCommand } from './own-command.ts';

/** The bytes of each output stream that are kept. */
const OUTPUT_BYTES_MAX = 1_048_576;

/**
 * Runs a hook without a shell, otherwise as its agent does: writes the payload to standard input and waits as long as
 * the agent would. A hook that is late is killed with every process that it started.
 */
export function runHookCommand(
  { words, guards_exit }: OwnCommand,
  { cwd, env }: Pick<HookSurroundings, 'cwd' | 'env'>,
  stdin: string,
  timeoutMs: number,
): Promise<HookOutput> {
  return new Promise((resolve) => {
    const [file = '', ...args] = words;
    const child = spawn(file, args, { cwd, env, detached: true });
    const stdout = openOutput();
    const stderr = openOutput();
    let isLate = false;
    const finish = (code: number | null): void => {
      clearTimeout(timer);
      resolve({ code, stdout: stdout.text(), stderr: stderr.text(), is_late: isLate });
    };
    const timer = setTimeout(() => {
      isLate = true;
      killGroup(child.pid);
      // A surviving process may hold the streams open, so `close` may never come.
      finish(null);
    }, timeoutMs);
    child.stdout.on('data', stdout.add);
    child.stderr.on('data', stderr.add);
    // A hook that does not read its input may end before the payload is written.
    child.stdin.on('error', () => {});
    child.on('error', () => finish(null));
    child.on('close', (code) => finish(guards_exit && code !== 0 ? 2 : code));
    child.stdin.end(stdin);
  });
}

function openOutput(): { readonly add: (chunk: Buffer) => void; readonly text: () => string } {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    add: (chunk) => {
      if (bytes < OUTPUT_BYTES_MAX) chunks.push(chunk);
      bytes += chunk.length;
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended in the meantime.
  }
}
