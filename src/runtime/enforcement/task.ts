import type { Crossing } from '../../core/types/index.ts';

/** A task's result, as a crossing carries it. */
export type CrossingTask = NonNullable<Crossing['task']>;

/** A call that names a task. */
export interface TaskHolder {
  readonly task_id: string;
  readonly tenant_id: string;
  /** The agent that acts. */
  readonly agent_id: string;
  /** The proved person; `null` if none is. */
  readonly user_id: string | null;
}

/** A tool call that names a task. */
export interface TaskUse extends TaskHolder {
  readonly tool: string;
  readonly content: Crossing['content'];
}

/** A task that was checked for one call. */
export interface CheckedTask {
  readonly shown: CrossingTask;
  /**
   * Counts the call, which was allowed. Returns the refusal if the task ended or was used up meanwhile, else `null`.
   * @throws StoreFailure
   */
  readonly count: () => Promise<CrossingTask['refusal']>;
}

/** Checks whether a task permits a call. Rejects for an internal fault only; an unreachable store is a refusal. */
export type CheckTask = (use: TaskUse) => Promise<CheckedTask>;

/** The most that model calls may cost for one task. */
export interface TaskCostLimit {
  readonly task_id: string;
  readonly cost_max_micro_usd: number;
  readonly created_ms: number;
  readonly expires_ms: number;
}

/**
 * Finds the limits on costs of a model call that names a task: the task's and those of the tasks that it was delegated
 * from. Returns why the task does not permit the call, if it does not. @throws StoreFailure
 */
export type FindTaskCostLimits = (
  holder: TaskHolder,
) => Promise<
  { readonly limits: readonly TaskCostLimit[] } | { readonly refusal: NonNullable<CrossingTask['refusal']> }
>;

/** Refuses every task. A service without tasks uses it. */
export const refuseTask: CheckTask = async () => {
  return { shown: { task_id: null, refusal: NO_TASKS }, count: async () => NO_TASKS };
};

/** Refuses every task for model calls. */
export const refuseTaskCosts: FindTaskCostLimits = async () => ({ refusal: NO_TASKS });

const NO_TASKS = { rule: 'task.unknown', reason: 'This service has no tasks.' };

/** Returns the task use that a crossing asks for; `null` if it is no tool call, or names no task. */
export function getTaskUse(crossing: Crossing): TaskUse | null {
  const { boundary, phase, tool, content, tenant_id, agent_id, source_agent_id, principal } = crossing;
  const taskId = principal?.task_id ?? null;
  if (taskId === null || tool === null || boundary !== 'action' || phase !== 'request') return null;
  return {
    task_id: taskId,
    tenant_id,
    agent_id: source_agent_id ?? agent_id,
    user_id: principal?.user?.user_id ?? null,
    tool,
    content,
  };
}
