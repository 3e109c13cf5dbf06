import { join } from 'node:path';
import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import { listSegments, listWriters } from '../../runtime/audit/files.ts';
import { openSigningKey } from '../../runtime/audit/keys.ts';
import { hasEvents, sealIdleChains } from '../../runtime/audit/seal-idle.ts';
import type { Config } from '../../runtime/config/index.ts';

type SealedConfig = Pick<Config, 'state_dir' | 'audit'>;

/** Closes the chains that no process has written for `seal_after`. */
export function sealAbandoned(config: SealedConfig, signal: AbortSignal): Promise<void> {
  const { object_storage } = config.audit;
  return object_storage === undefined
    ? Promise.resolve()
    : sealChains(config, signal, parseDurationMs(object_storage.seal_after));
}

/** Closes the newest file of each chain that no process has open now. */
export function sealAllIdle(config: SealedConfig, signal: AbortSignal): Promise<void> {
  return sealChains(config, signal, 0);
}

async function sealChains(
  { state_dir, audit }: SealedConfig,
  signal: AbortSignal,
  idleMs: number,
): Promise<void> {
  await sealIdleChains({
    dir: join(state_dir, 'journal'),
    idle_ms: idleMs,
    compress_rotated: audit.compress_rotated,
    max_size_bytes: audit.max_size_mb * 1_048_576,
    signing_key: await openSigningKey({ dir: join(state_dir, 'keys'), now_ms: Date.now }),
    now_ms: Date.now,
    signal,
  });
}

/** Returns the writers whose newest file has events, and therefore is not shipped yet. */
export async function listUnshippedWriters(journalDir: string): Promise<readonly string[]> {
  const open: string[] = [];
  for (const writer of await listWriters(journalDir)) {
    const newest = (await listSegments(join(journalDir, writer))).at(-1);
    if (newest !== undefined && (await hasEvents(newest))) open.push(writer);
  }
  return open;
}
