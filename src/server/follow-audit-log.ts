import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditPosition } from '../runtime/audit/events/follow-index.ts';
import { type FollowedEvent, followJournal } from '../runtime/audit/follow.ts';
import type { ChainPosition } from '../runtime/audit/reader.ts';
import type { AuditFilter } from '../runtime/audit/types.ts';
import { connectService } from './socket-client.ts';
import { SocketFailure } from './socket-failure.ts';
import { buildStatePaths } from './state-dir.ts';

/** The parameters of a command that follows the audit log. */
export interface AuditFollowing {
  readonly state_dir: string;
  /**
   * The filter that a running service applies. It may return extra events, so the caller checks each event
   * again.
   */
  readonly filter: AuditFilter;
  /** The position after which events are returned. */
  readonly place: AuditPosition;
  readonly signal: AbortSignal;
}

/** The interval between checks for a running service, in milliseconds. */
const LOOK_MS = 500;
/** The time before a service that refused is tried again, in milliseconds. */
const REFUSED_MS = 30_000;

/** The progress of one follower, in the index order of the service and per writer. */
interface Progress {
  /** The position in the index order of the service. It does not change while the journal is read. */
  after: string | null;
  positions: Map<string, ChainPosition>;
  /** The highest event number returned per writer. All events before it were returned too. */
  readonly given: Map<string, number>;
}

/**
 * Yields each event once, as it is written. Follows the process that owns the state folder, or reads the
 * journal if no process owns it, and switches when a process starts or ends. Ends when `signal` is aborted.
 */
export async function* followAuditLog(followed: AuditFollowing): AsyncGenerator<FollowedEvent> {
  const { place, signal } = followed;
  const progress: Progress = { after: place.after, positions: new Map(place.positions), given: new Map() };
  while (!signal.aborted) {
    const isRefused = yield* streamFromService(followed, progress);
    yield* streamFromJournal(followed, progress, isRefused ? REFUSED_MS : LOOK_MS);
  }
}

/** @returns whether a service is running that refuses to be followed */
async function* streamFromService(
  { state_dir, filter, signal }: AuditFollowing,
  progress: Progress,
): AsyncGenerator<FollowedEvent, boolean> {
  const client = await connectService(state_dir);
  if (client === null) return false;
  signal.addEventListener('abort', client.close);
  if (signal.aborted) client.close();
  const isNew = createNewcomerFilter(progress);
  try {
    for await (const { events, place } of client.follow({ ...filter, after: progress.after })) {
      yield* events.filter(isNew);
      if (place === null) continue;
      progress.after = place.after;
      progress.positions = new Map(place.positions);
    }
    return false;
  } catch (failure) {
    // The journal holds the same events.
    if (failure instanceof SocketFailure) return true;
    throw failure;
  } finally {
    signal.removeEventListener('abort', client.close);
    client.close();
  }
}

async function* streamFromJournal(
  { state_dir, signal }: AuditFollowing,
  progress: Progress,
  lookMs: number,
): AsyncGenerator<FollowedEvent> {
  const found = new AbortController();
  const until = AbortSignal.any([signal, found.signal]);
  const isNew = createNewcomerFilter(progress);
  const looking = waitForService(state_dir, lookMs, until).then(() => found.abort());
  try {
    const dir = buildStatePaths(state_dir).journal;
    for await (const each of followJournal({ dir, from: progress.positions, signal: until }))
      if (isNew(each)) yield each;
  } finally {
    found.abort();
    await looking;
  }
}

async function waitForService(stateDir: string, lookMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(lookMs, null, { signal }).catch(() => {});
    const client = signal.aborted ? null : await connectService(stateDir).catch(() => null);
    client?.close();
    if (client !== null) return;
  }
}

/** Returns a filter that accepts events that were not returned before this call, in any order. */
function createNewcomerFilter({ given }: Progress): (each: FollowedEvent) => boolean {
  const before = new Map(given);
  return ({ writer, seq }) => {
    if (seq <= (before.get(writer) ?? 0)) return false;
    given.set(writer, Math.max(seq, given.get(writer) ?? 0));
    return true;
  };
}
