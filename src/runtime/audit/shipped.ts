import { join } from 'node:path';
import { readOwnFile } from '../../platform/files/own-file.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import { getSystemCode } from './failure.ts';

/** The file in a writer's folder that says which records are in object storage. */
const SHIPPED = 'shipped.json';
const BYTES_MAX = 1_024;

/** Returns the last record of a writer that is in object storage; 0 if none is. */
export async function readShippedSeq(writerDir: string): Promise<number> {
  try {
    const { last_seq } = JSON.parse(await readOwnFile(join(writerDir, SHIPPED), BYTES_MAX)) as {
      last_seq?: unknown;
    };
    return typeof last_seq === 'number' && Number.isSafeInteger(last_seq) ? last_seq : 0;
  } catch (error) {
    // Unreadable means that everything is shipped again, which finds what is there.
    if (error instanceof SyntaxError || getSystemCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

/**
 * Records that a writer's records up to `lastSeq` are in object storage. Its temporary file has another ending than those of
 * the journal, which the process of the writer deletes at any time.
 */
export function writeShippedSeq(writerDir: string, lastSeq: number): void {
  writePrivateFile(join(writerDir, SHIPPED), JSON.stringify({ last_seq: lastSeq }), 'replace');
}
