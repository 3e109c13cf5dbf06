import { join } from 'node:path';
import { listSegments, listWriters, type SegmentFile } from './files.ts';
import { parseRecord } from './journal-record.ts';
import { readJournalLines } from './lines.ts';
import type { ChainState, SignedCheckpoint } from './window-types.ts';

/** The start of a line in which its kind and its time are. */
const HEAD_BYTES = 640;
/** Events are appended at most so long after their time. */
const LATE_MS = 600_000;

/**
 * Lists the chains that have records from before a time, each with the first checkpoint that signs all of its events
 * from before that time. A journal that continues does not change the answer for a time in the past.
 */
export async function listChainStates(journalDir: string, untilMs: number): Promise<ChainState[]> {
  const states: ChainState[] = [];
  for (const writer of await listWriters(journalDir)) {
    const segments = await listSegments(join(journalDir, writer));
    const state = await findChainState(writer, segments, untilMs);
    if (state !== null) states.push(state);
  }
  return states;
}

async function findChainState(
  writer: string,
  segments: readonly SegmentFile[],
  untilMs: number,
): Promise<ChainState | null> {
  const last = await findLastSegment(segments, untilMs);
  for (let at = last; at >= 0; at--) {
    const found = await walkSegments(segments.slice(at), untilMs);
    if (!found.has_event && at > 0) continue;
    if (!found.has_record) return null;
    return { writer, checkpoint: found.checkpoint, covers_window: found.is_covered };
  }
  return null;
}

/** Returns the index of the last file that began before a time; -1 if none did. */
async function findLastSegment(segments: readonly SegmentFile[], untilMs: number): Promise<number> {
  for (let at = segments.length - 1; at >= 0; at--) {
    const beganMs = await readStart(segments[at]!);
    if (beganMs !== null && beganMs < untilMs) return at;
  }
  return -1;
}

async function readStart(segment: SegmentFile): Promise<number | null> {
  for await (const { bytes, whole } of readJournalLines(segment))
    return whole ? readTime(bytes.toString('latin1', 0, HEAD_BYTES)) : null;
  return null;
}

interface FoundCheckpoint {
  has_record: boolean;
  has_event: boolean;
  checkpoint: SignedCheckpoint | null;
  is_covered: boolean;
}

/** Finds the first checkpoint after the last event from before a time, or else the last checkpoint. */
async function walkSegments(segments: readonly SegmentFile[], untilMs: number): Promise<FoundCheckpoint> {
  const found: FoundCheckpoint = { has_record: false, has_event: false, checkpoint: null, is_covered: false };
  for (const segment of segments)
    for await (const { bytes, whole } of readJournalLines(segment)) {
      if (!whole) continue;
      const head = bytes.toString('latin1', 0, HEAD_BYTES);
      const ms = readTime(head) ?? untilMs;
      if (ms < untilMs) found.has_record = true;
      if (head.includes('"kind":"event"')) {
        if (ms < untilMs) Object.assign(found, { has_event: true, is_covered: false });
      } else if (head.includes('"kind":"checkpoint"') && !found.is_covered) {
        found.checkpoint = readCheckpoint(bytes.toString('utf8')) ?? found.checkpoint;
        found.is_covered = true;
      }
      if (found.is_covered && ms > untilMs + LATE_MS) return found;
    }
  return found;
}

function readTime(head: string): number | null {
  const written = /"timestamp":"([^"]{20,30})"/.exec(head)?.[1];
  const ms = written === undefined ? Number.NaN : Date.parse(written);
  return Number.isNaN(ms) ? null : ms;
}

function readCheckpoint(line: string): SignedCheckpoint | null {
  const record = parseRecord(line);
  if (!('kind' in record) || record.kind !== 'checkpoint') return null;
  const { writer, seq, record_hash, checkpoint } = record;
  const { timestamp, key_id, signature } = checkpoint;
  return { writer, seq, record_hash, timestamp, key_id, signature };
}
