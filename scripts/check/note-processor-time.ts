/** Preloaded before each test file, whose processor time it appends to the file `PROCESSOR_TIMES`. */
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { readProcessorSeconds } from './processor-time.ts';

const { PROCESSOR_TIMES } = process.env;
if (isMainThread && PROCESSOR_TIMES !== undefined)
  process.once('exit', () =>
    appendFileSync(PROCESSOR_TIMES, `${readProcessorSeconds()} ${process.argv[1]}\n`),
  );
