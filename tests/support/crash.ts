/** Helpers for tests that kill the service at any moment and then check its files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { TestService } from './service.ts';

/** Kills the parent and every worker at once, like a power failure. */
export function killAll(service: TestService): void {
  for (const pid of [...service.worker_pids(), service.pid]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It had already exited.
    }
  }
}

/** Returns the texts of the journal's files, read without any code of the service. */
export function journalTexts({ state_dir }: TestService): readonly string[] {
  return readdirSync(join(state_dir, 'journal'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.jsonl(\.gz)?$/.test(entry.name))
    .map((entry) => {
      const raw = readFileSync(join(entry.parentPath, entry.name));
      return (entry.name.endsWith('.gz') ? gunzipSync(raw) : raw).toString('utf8');
    });
}
