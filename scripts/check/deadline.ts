/**
 * Preloaded before each test file, whose processor time it appends to the file `PROCESSOR_TIMES`. It ends a file that takes too long, even one in an endless loop, in which no timer
 * runs. Node's `timeout` ends a test, but neither such a loop nor a file that stays open after its tests. Its
 * `forceExit` can lose the results of a file.
 */
import { appendFileSync } from 'node:fs';
import { isMainThread, Worker } from 'node:worker_threads';
import { readProcessorSeconds } from './processor-time.ts';

/** No file should need a tenth of it. */
const FILE_MS_MAX = 10 * 60_000;

if (isMainThread)
  new Worker(`setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${FILE_MS_MAX})`, {
    eval: true,
    execArgv: [],
  }).unref();

const { PROCESSOR_TIMES } = process.env;
if (isMainThread && PROCESSOR_TIMES !== undefined)
  process.once('exit', () =>
    appendFileSync(PROCESSOR_TIMES, `${readProcessorSeconds()} ${process.argv[1]}\n`),
  );
