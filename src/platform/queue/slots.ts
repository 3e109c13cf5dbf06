/** A limit on the number of tasks that run at once. */
export interface Slots {
  /** Resolves when a task may begin, in the order of the calls. The returned function ends the task; calls after the first do nothing. */
  readonly take: () => Promise<() => void>;
}

/** Opens slots for at most `tasks_max` running tasks. */
export function openSlots(tasks_max: number): Slots {
  const waiting: (() => void)[] = [];
  let running = 0;
  const endTask = (): void => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  return {
    take: async () => {
      if (running < tasks_max) running += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let is_ended = false;
      return () => {
        if (!is_ended) endTask();
        is_ended = true;
      };
    },
  };
}
