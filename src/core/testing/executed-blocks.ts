import { Session } from 'node:inspector';

/** Returns the number of blocks of `src/core` that a function executes. Blocks are counted by V8, so nothing is left out. */
export type BlockCounter = (run: () => void) => number;

/** Starts to count blocks. Modules that are imported before are not counted. */
export function startCountingBlocks(): BlockCounter {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const take = (): number => {
    let count = 0;
    session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      for (const { url, functions } of result)
        if (url.includes('/src/core/'))
          for (const { ranges } of functions) for (const range of ranges) count += range.count;
    });
    return count;
  };
  return (run) => {
    take();
    run();
    return take();
  };
}
