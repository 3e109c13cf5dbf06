import { spawn } from 'node:child_process';
import type { Counts, Outcome } from './outcome.ts';

/** Runs a program whose exit code is the result of the check. It runs at the root of the checkout. */
export async function checkByCommand(name: string, words: readonly string[]): Promise<Outcome> {
  const beganMs = performance.now();
  const child = spawn(words[0]!, words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      output += `${error.message}\n`;
      resolve(null);
    });
    child.once('close', resolve);
  });
  const ok = code === 0;
  const durationMs = performance.now() - beganMs;
  return {
    name,
    ok,
    duration_ms: durationMs,
    output: ok ? '' : output.trimEnd(),
    counts: countOneCheck(ok),
    skipped: [],
  };
}

/** Returns the outcome of a check that cannot run here. */
export function reportSkippedCheck(name: string, reason: string): Outcome {
  const counts = { tests: 1, passed: 0, failed: 0, cancelled: 0, skipped: 1, todo: 0 };
  return { name, ok: true, duration_ms: 0, output: '', counts, skipped: [`${name}: ${reason}`] };
}

function countOneCheck(ok: boolean): Counts {
  return { tests: 1, passed: ok ? 1 : 0, failed: ok ? 0 : 1, cancelled: 0, skipped: 0, todo: 0 };
}
