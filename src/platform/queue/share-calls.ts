/**
 * Returns a function whose calls share one `run` if they come in the same turn of the event loop. It begins after the
 * last call, so that each caller gets a result that is newer than its call.
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
