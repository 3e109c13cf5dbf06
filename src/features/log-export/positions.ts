import { join } from 'node:path';
import { readOwnFile } from '../../platform/files/own-file.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import { getSystemCode } from '../../runtime/audit/failure.ts';
import { isWriterName, listSegments, listWriters, type SegmentFile } from '../../runtime/audit/files.ts';
import { decodeRecord } from '../../runtime/audit/journal-record.ts';
import { readJournalLines } from '../../runtime/audit/lines.ts';
import { type ChainPosition, FROM_START } from '../../runtime/audit/reader.ts';

/** The file of the state folder with the place up to which each chain is exported. */
const POSITIONS = 'log-export.json';

/** The place up to which each chain is exported. */
export interface ExportPositions {
  /** Earlier events are not exported, in milliseconds since 1970. */
  readonly since_ms: number;
  /** The position of each writer. */
  readonly chains: Map<string, ChainPosition>;
}

/**
 * Reads the positions. An export that was never made begins with the events from `startedMs` on, so that a first start
 * does not send months of events. A damaged file is an export that was never made.
 */
export async function readExportPositions(stateDir: string, startedMs: number): Promise<ExportPositions> {
  const saved = await readSaved(join(stateDir, POSITIONS));
  if (saved !== null) return saved;
  const journalDir = join(stateDir, 'journal');
  const chains = new Map<string, ChainPosition>();
  for (const writer of await listWriters(journalDir))
    chains.set(writer, await findStart(join(journalDir, writer), startedMs));
  const positions = { since_ms: startedMs, chains };
  savePositions(stateDir, positions);
  return positions;
}

/** Returns the start of the newest file that was begun before a time: later events are in it or in later files. */
async function findStart(writerDir: string, beforeMs: number): Promise<ChainPosition> {
  for (const segment of (await listSegments(writerDir)).toReversed()) {
    const begunMs = await readBeginning(segment);
    if (begunMs === null || begunMs > beforeMs) continue;
    return { segment: segment.first_seq, offset: 0, record_hash: null, seq: segment.first_seq - 1 };
  }
  return FROM_START;
}

async function readBeginning(segment: SegmentFile): Promise<number | null> {
  for await (const { bytes, whole } of readJournalLines(segment)) {
    const record = whole ? decodeRecord(bytes) : null;
    return record !== null && 'kind' in record && record.kind === 'segment'
      ? Date.parse(record.segment.timestamp)
      : null;
  }
  return null;
}

async function readSaved(path: string): Promise<ExportPositions | null> {
  try {
    const { since_ms, chains } = JSON.parse(await readOwnFile(path)) as {
      readonly since_ms?: unknown;
      readonly chains?: unknown;
    };
    if (typeof since_ms !== 'number' || !Array.isArray(chains)) return null;
    return { since_ms, chains: new Map(chains.filter(isEntry)) };
  } catch (error) {
    if (error instanceof SyntaxError || getSystemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function isEntry(entry: unknown): entry is [string, ChainPosition] {
  if (!Array.isArray(entry)) return false;
  const [writer, position] = entry as readonly unknown[];
  const { segment, offset, seq } = (position ?? {}) as Partial<ChainPosition>;
  return (
    typeof writer === 'string' &&
    isWriterName(writer) &&
    [segment, offset, seq].every((each) => Number.isSafeInteger(each))
  );
}

/** Saves the positions. */
export function savePositions(stateDir: string, { since_ms, chains }: ExportPositions): void {
  writePrivateFile(join(stateDir, POSITIONS), JSON.stringify({ since_ms, chains: [...chains] }), 'replace');
}
