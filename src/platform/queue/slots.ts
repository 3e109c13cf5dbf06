/** A limit on the number of tasks that run at once. */
export interface Slots {
  /** Resolves when a task may begin, in the order of the calls. The returned function ends the task; calls after the first do nothing. */
  readonly take: () => Promise<() => void>;
}

/** Opens slots for at most `tasksMax` running tasks. */
export function openSlots(tasksMax: number): Slots {
  const waiting: (() => void)[] = [];
  let running = 0;
  const endTask = (): void => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  return {
    take: async () => {
      if (running < tasksMax) running += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let isEnded = false;
      return () => {
        if (!isEnded) endTask();
        isEnded = true;
      };
    },
  };
}
