import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listWriters } from './files.ts';
import { type ChainPosition, FROM_START, readChain, readEnds } from './reader.ts';
import type { AuditEvent } from './types.ts';

export interface FollowOptions {
  /** The folder of all writers, `<state>/journal`. */
  readonly dir: string;
  /**
   * `start`: all existing events, then new ones. `end`: new ones only. A map of positions is updated while following.
   */
  readonly from: 'start' | 'end' | Map<string, ChainPosition>;
  readonly signal: AbortSignal;
  /** The interval between polls, in milliseconds; 200 by default. */
  readonly poll_ms?: number;
}

/** An event and its place in the journal. */
export interface FollowedEvent {
  readonly event: AuditEvent;
  readonly writer: string;
  readonly seq: number;
}

const POLL_MS = 200;

/**
 * Yields events of all writers as they are written, across rotation, including writers that appear later. Ends without
 * an error when `signal` is aborted. The events of one poll are sorted by time.
 */
export async function* followJournal(options: FollowOptions): AsyncGenerator<FollowedEvent> {
  const positions = await startPositions(options);
  while (!options.signal.aborted) {
    const found = await readNewEvents(options, positions);
    yield* found.sort(compareTimes);
    if (found.length > 0) continue;
    await sleep(options.poll_ms ?? POLL_MS, undefined, { signal: options.signal }).catch(() => {});
  }
}

async function startPositions(options: FollowOptions): Promise<Map<string, ChainPosition>> {
  if (options.from === 'start') return new Map();
  return options.from === 'end' ? readEnds(options.dir) : options.from;
}

/**
 * Reads what is new since the last poll. Reads at most one block per writer, so that a long journal does not fill
 * memory.
 */
async function readNewEvents(
  options: FollowOptions,
  positions: Map<string, ChainPosition>,
): Promise<FollowedEvent[]> {
  const found: FollowedEvent[] = [];
  for (const writer of await listWriters(options.dir)) {
    for await (const block of readChain(join(options.dir, writer), positions.get(writer) ?? FROM_START)) {
      positions.set(writer, block.position);
      for (const { record } of block.records) {
        if (record.kind === 'event') found.push({ event: record.event, writer, seq: record.seq });
      }
      if (found.length > 0) break;
    }
  }
  return found;
}

function compareTimes(a: FollowedEvent, b: FollowedEvent): number {
  return Date.parse(a.event.timestamp) - Date.parse(b.event.timestamp);
}
