/** Opens a queue that runs tasks one at a time, in the order of the calls. A failed task does not stop the next one. */
export function openSerialQueue(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(task);
    last = turn.catch(() => {});
    return turn;
  };
}
