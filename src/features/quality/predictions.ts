import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { type Category, FACTS } from './category.ts';
import type { Row } from './corpus.ts';
import type { Prediction } from './predict.ts';

/** A file that predictions go to, a line for each row. It has its name only when all is in it. */
export interface PredictionFile {
  readonly add: (row: Row, prediction: Prediction) => Promise<void>;
  readonly close: () => Promise<void>;
  /** Takes away what was written. */
  readonly abandon: () => Promise<void>;
}

const BUFFERED_UNITS = 1 << 18;

/**
 * Opens a file for predictions in the form that scorers of labelled corpora read: `{id, hits: [{start, end,
 * type}]}` and, where places are not labelled, `flagged`.
 * @throws the system's error where the file cannot be written
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
      buffered += `${lineOf(category, row, prediction)}\n`;
      if (buffered.length >= BUFFERED_UNITS) await flush();
    },
    close: async () => {
      await flush();
      await file.close();
      await rename(unfinished, path);
    },
    abandon: () => remove(file, unfinished),
  };
}

async function remove(file: FileHandle, path: string): Promise<void> {
  await file.close();
  await rm(path, { force: true });
}

function lineOf(category: Category, { id }: Row, { hits }: Prediction): string {
  return JSON.stringify(FACTS[category].has_spans ? { id, hits } : { id, hits, flagged: hits.length > 0 });
}
