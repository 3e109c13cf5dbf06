import { join } from 'node:path';
import { readOwnFileSync } from '../../platform/files/own-file.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import { getSystemCode } from './failure.ts';
import type { SegmentFile } from './files.ts';
import { decodeRecord } from './journal-record.ts';
import { readJournalLines } from './lines.ts';
import type { AuditEvent } from './types.ts';

/** A legal hold: retention deletes no file of the journal with an event that it matches. `null` matches everything. */
export interface LegalHold {
  /** `hold_` and 24 hex digits. */
  readonly hold_id: string;
  readonly tenant_id: string | null;
  readonly agent_id: string | null;
  readonly session_id: string | null;
  /** The time of the oldest event, in milliseconds since 1970. */
  readonly since_ms: number | null;
  /** Exclusive. */
  readonly until_ms: number | null;
}

/**
 * The holds of a state folder, as retention reads them. The store has the truth; the file is its copy, so that every
 * writer of a journal can read it without the store.
 */
interface HoldFile {
  readonly format: 1;
  /** When the copy was last compared with the store. */
  readonly checked_ms: number;
  readonly holds: readonly LegalHold[];
}

/** A copy that was not compared with the store for this long is not believed: a newer hold may be missing in it. */
const BELIEVED_MS = 3_600_000;
/** An unchanged copy is written again after this time. */
const REFRESH_MS = 300_000;

function getHoldPath(stateDir: string): string {
  return join(stateDir, 'legal-holds.json');
}

/** Writes the copy of the holds, unless the present one is equal and recent. */
export function writeLegalHolds(stateDir: string, holds: readonly LegalHold[], nowMs: number): void {
  const present = readFile(stateDir);
  const isEqual = present !== null && JSON.stringify(present.holds) === JSON.stringify(holds);
  const ageMs = nowMs - (present?.checked_ms ?? 0);
  if (isEqual && ageMs >= 0 && ageMs < REFRESH_MS) return;
  const file: HoldFile = { format: 1, checked_ms: nowMs, holds };
  writePrivateFile(getHoldPath(stateDir), JSON.stringify(file), 'replace');
}

/**
 * Reads the holds of a state folder. Returns `null` if they are not known: the copy is missing, damaged, or was not
 * compared with the store within the last hour. Then nothing may be deleted.
 */
export function readLegalHolds(stateDir: string, nowMs: number): readonly LegalHold[] | null {
  const file = readFile(stateDir);
  if (file === null || Math.abs(nowMs - file.checked_ms) > BELIEVED_MS) return null;
  return file.holds;
}

function readFile(stateDir: string): HoldFile | null {
  try {
    const file = JSON.parse(readOwnFileSync(getHoldPath(stateDir))) as HoldFile;
    const isValid =
      file.format === 1 &&
      Number.isFinite(file.checked_ms) &&
      Array.isArray(file.holds) &&
      file.holds.every(isHold);
    return isValid ? file : null;
  } catch (error) {
    if (error instanceof SyntaxError || getSystemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function isHold(hold: unknown): hold is LegalHold {
  if (typeof hold !== 'object' || hold === null) return false;
  const { hold_id, tenant_id, agent_id, session_id, since_ms, until_ms } = hold as LegalHold;
  const names = [tenant_id, agent_id, session_id];
  const times = [since_ms, until_ms];
  return (
    typeof hold_id === 'string' &&
    names.every((name) => name === null || typeof name === 'string') &&
    times.every((time) => time === null || Number.isFinite(time))
  );
}

/** Returns whether a hold matches an event. */
export function matchesHold(
  hold: LegalHold,
  event: Pick<AuditEvent, 'tenant_id' | 'agent_id' | 'session_id' | 'timestamp'>,
): boolean {
  const ms = Date.parse(event.timestamp);
  return (
    (hold.tenant_id === null || hold.tenant_id === event.tenant_id) &&
    (hold.agent_id === null || hold.agent_id === event.agent_id) &&
    (hold.session_id === null || hold.session_id === event.session_id) &&
    (hold.since_ms === null || ms >= hold.since_ms) &&
    (hold.until_ms === null || ms < hold.until_ms)
  );
}

/**
 * Returns the hold that a file of the journal falls under; `null` if there is none. A file with a line that cannot be
 * read falls under the first hold, because the line may have been an event that it matches.
 */
export async function findHoldOn(
  segment: SegmentFile,
  holds: readonly LegalHold[],
): Promise<LegalHold | null> {
  const first = holds[0];
  if (first === undefined) return null;
  for await (const line of readJournalLines(segment)) {
    const record = line.whole ? decodeRecord(line.bytes) : null;
    if (record === null || 'fault' in record) return first;
    if (record.kind !== 'event') continue;
    const hold = holds.find((each) => matchesHold(each, record.event));
    if (hold !== undefined) return hold;
  }
  return null;
}
