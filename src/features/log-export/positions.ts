import { join } from 'node:path';
import { readOwnFile } from '../../platform/files/own-file.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import { getSystemCode } from '../../runtime/audit/failure.ts';
import { isWriterName } from '../../runtime/audit/files.ts';
import { type ChainPosition, readEnds } from '../../runtime/audit/reader.ts';

/** The file of the state folder with the place up to which each chain is exported. */
const POSITIONS = 'log-export.json';

/** The place up to which each chain is exported, by writer. */
export type ExportPositions = Map<string, ChainPosition>;

/**
 * Reads the positions. An export that was never made begins at the present end of the log, so that a first start does
 * not send months of events. A damaged file is an export that was never made.
 */
export async function readPositions(stateDir: string): Promise<ExportPositions> {
  const saved = await readSaved(join(stateDir, POSITIONS));
  if (saved !== null) return saved;
  const ends = await readEnds(join(stateDir, 'journal'));
  savePositions(stateDir, ends);
  return ends;
}

async function readSaved(path: string): Promise<ExportPositions | null> {
  try {
    const value = JSON.parse(await readOwnFile(path)) as { readonly positions?: unknown };
    if (!Array.isArray(value.positions)) return null;
    return new Map(value.positions.filter(isEntry));
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
export function savePositions(stateDir: string, positions: ExportPositions): void {
  writePrivateFile(
    join(stateDir, POSITIONS),
    `${JSON.stringify({ positions: [...positions] })}\n`,
    'replace',
  );
}
