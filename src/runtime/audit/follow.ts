import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listWriters } from './files.ts';
import { type ChainPosition, FROM_START, readChain, readEnds } from './reader.ts';
import type { AuditEvent } from './types.ts';

export interface FollowOptions {
  /** The folder of all writers, `<state>/journal`. */
  readonly dir: string;
  /** `start`: all that is there, then what comes. `end`: what comes. A map of places is kept up to date. */
  readonly from: 'start' | 'end' | Map<string, ChainPosition>;
  readonly signal: AbortSignal;
  /** How often to look; 200 ms unless told. */
  readonly poll_ms?: number;
}

/** An event, and where in the journal it stands. */
export interface FollowedEvent {
  readonly event: AuditEvent;
  readonly writer: string;
  readonly seq: number;
}

const POLL_MS = 200;

/**
 * Gives events as they are written, by all writers, also those that come later; across rotation. Ends, without
 * a fault, when `signal` is aborted. Those that one look finds are given in the order of their time.
 */
export async function* followJournal(options: FollowOptions): AsyncGenerator<FollowedEvent> {
  const positions = await startPositions(options);
  while (!options.signal.aborted) {
    const found = await look(options, positions);
    yield* found.sort(byTime);
    if (found.length > 0) continue;
    await sleep(options.poll_ms ?? POLL_MS, undefined, { signal: options.signal }).catch(() => {});
  }
}

async function startPositions(options: FollowOptions): Promise<Map<string, ChainPosition>> {
  if (options.from === 'start') return new Map();
  return options.from === 'end' ? readEnds(options.dir) : options.from;
}

/** What is new since the last look, one block of each writer at most, so that a long journal stays out of memory. */
async function look(options: FollowOptions, positions: Map<string, ChainPosition>): Promise<FollowedEvent[]> {
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

function byTime(a: FollowedEvent, b: FollowedEvent): number {
  return Date.parse(a.event.timestamp) - Date.parse(b.event.timestamp);
}
