import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DecisionSink } from '../local/local-backend.ts';
import { createJournalPath } from './journal-folder.ts';

/** The journal of a local guard. */
export interface JournalFile extends DecisionSink {
  /** Returns the file, which is created with the first decision. */
  readonly path: () => string;
}

/** A file of this size is renamed and a new one begun. The same default as `audit.max_size_mb`. */
const JOURNAL_BYTES_MAX = 104_857_600;

/**
 * Opens a journal of JSON lines, one event per line, mode 0600. Each event is handed to the operating system before
 * its decision is given, so the death of the process loses none. `close` makes them durable on disk.
 *
 * @param path - default: a new file in the folder of the user for journals
 */
export function openJournalFile(path?: string, bytesMax: number = JOURNAL_BYTES_MAX): JournalFile {
  let file = path;
  let descriptor: number | null = null;
  let bytes = 0;
  const nameFile = (): string => {
    file ??= createJournalPath();
    return file;
  };
  const open = (): number => {
    const name = nameFile();
    mkdirSync(dirname(name), { recursive: true, mode: 0o700 });
    const opened = openSync(name, 'a', 0o600);
    bytes = fstatSync(opened).size;
    return opened;
  };
  const close = (): void => {
    if (descriptor === null) return;
    const closing = descriptor;
    descriptor = null;
    fsyncSync(closing);
    closeSync(closing);
  };
  return {
    path: nameFile,
    write: (record) => {
      descriptor ??= open();
      const line = Buffer.from(`${JSON.stringify(record)}\n`);
      const written = writeSync(descriptor, line);
      bytes += written;
      if (written !== line.length) {
        // The rest of a line after a full disk; readers skip lines that are no JSON.
        throw new Error('The journal could not be written in full.');
      }
      if (bytes < bytesMax) return;
      close();
      renameSync(nameFile(), `${nameFile()}.${record.timestamp.replace(/[^0-9]/g, '')}-${record.event_id}`);
    },
    close: async () => close(),
  };
}
