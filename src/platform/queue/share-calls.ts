/**
 * Returns a function whose calls of one turn of the event loop share one call of `run`. It begins after the last of
 * them, so that each caller gets a result that is newer than its call.
 */
export function shareCalls<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let next: Promise<Result> | null = null;
  const begin = (): Promise<Result> => {
    next = null;
    return run();
  };
  return () => {
    next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(begin);
    return next;
  };
}
