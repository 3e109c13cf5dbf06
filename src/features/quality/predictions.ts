import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { CATEGORY_FACTS, type Category } from './category.ts';
import type { CorpusRow } from './corpus.ts';
import type { Prediction } from './predict-hits.ts';

/** A file of predictions, one line for each row. It gets its final name only when it is complete. */
export interface PredictionFile {
  readonly add: (row: CorpusRow, prediction: Prediction) => Promise<void>;
  readonly close: () => Promise<void>;
  /** Deletes the unfinished file. */
  readonly abandon: () => Promise<void>;
}

const BUFFERED_UNITS = 1 << 18;

/**
 * Opens a file for predictions in the format that scorers of labelled corpora read: `{id, hits: [{start, end, type}]}`
 * and, if spans are not labelled, `flagged`.
 * @throws the system's error if the file cannot be written
 */
export async function openPredictions(path: string, category: Category): Promise<PredictionFile> {
  const unfinished = `${path}.${process.pid}.unfinished`;
  const file = await open(unfinished, 'wx').catch((error) => {
    throw Object.assign(error, { path });
  });
  let buffered = '';
  const flush = async (): Promise<void> => {
    const text = buffered;
    buffered = '';
    await file.appendFile(text);
  };
  return {
    add: async (row, prediction) => {
      buffered += `${formatLine(category, row, prediction)}\n`;
      if (buffered.length >= BUFFERED_UNITS) await flush();
    },
    close: async () => {
      await flush();
      await file.close();
      await rename(unfinished, path);
    },
    abandon: () => removeFile(file, unfinished),
  };
}

async function removeFile(file: FileHandle, path: string): Promise<void> {
  await file.close();
  await rm(path, { force: true });
}

function formatLine(category: Category, { id }: CorpusRow, { hits }: Prediction): string {
  return JSON.stringify(
    CATEGORY_FACTS[category].has_spans ? { id, hits } : { id, hits, flagged: hits.length > 0 },
  );
}
