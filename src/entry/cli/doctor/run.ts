import { spawn } from 'node:child_process';
import type { Answer, Start } from './hosts/host.ts';

/** What of an answer is kept, in bytes for each stream. */
const OUTPUT_BYTES_MAX = 1_048_576;

/**
 * Runs a hook as its host does: writes what the host would ask, and waits as long as the host would. Whatever it started
 * is ended with it when it is late.
 */
export function runHook(
  { file, args, cwd, env }: Start,
  stdin: string,
  timeout_ms: number,
  own_env: Readonly<Record<string, string | undefined>>,
): Promise<Answer> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd, env: { ...own_env, ...env }, detached: true });
    const stdout = gathered();
    const stderr = gathered();
    let is_late = false;
    const give = (code: number | null): void => {
      clearTimeout(timer);
      resolve({ code, stdout: stdout.text(), stderr: stderr.text(), is_late });
    };
    const timer = setTimeout(() => {
      is_late = true;
      endGroup(child.pid);
      // Who holds its streams open is not waited for.
      give(null);
    }, timeout_ms);
    child.stdout.on('data', stdout.add);
    child.stderr.on('data', stderr.add);
    // A hook that does not read what it is asked may be gone before it is written.
    child.stdin.on('error', () => {});
    child.on('error', () => give(null));
    child.on('close', give);
    child.stdin.end(stdin);
  });
}

function gathered(): { readonly add: (chunk: Buffer) => void; readonly text: () => string } {
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

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
}
