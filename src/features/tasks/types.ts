import type { Row, Shown } from '../../platform/store/define-table.ts';
import type { CheckTask, FindTaskCostLimits } from '../../runtime/enforcement/task.ts';
import type { tasks } from './tables.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** Tasks, which bound what one agent may do for one purpose. Loaded on the first call. */
    readonly tasks: () => Promise<Tasks>;
  }
}

export type TaskRow = Row<typeof tasks>;

/** A task. Times are ISO 8601, UTC. */
export interface TaskRecord extends Shown<typeof tasks> {
  readonly status: TaskStatus;
  /** Arguments with permitted values, such as `send_email.to`. The values themselves are not stored. */
  readonly arguments: readonly string[];
  /** Arguments that say which results are sources, such as `read_file.path`. */
  readonly sources: readonly string[];
}

export const TASK_STATUSES = ['active', 'expired', 'revoked'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** A value that an argument may have. */
export type TaskValue = string | number | boolean | null;

/** A task’s terms. A path names a tool, which may have `*`, and an argument: `send_email.to`. */
export interface TaskTerms {
  readonly tools: readonly string[];
  readonly values: Readonly<Record<string, readonly TaskValue[]>>;
  /** The arguments of calls whose results the task may use. Empty: all results. */
  readonly sources: Readonly<Record<string, readonly TaskValue[]>>;
  /** Decimal numbers. */
  readonly sums: Readonly<Record<string, string>>;
  /** `null`: no limit. */
  readonly calls_max: number | null;
  /** US dollars, as a decimal number; `null`: no limit. */
  readonly cost_max: string | null;
}

export interface NewTaskTerms extends TaskTerms {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly user_id: string | null;
  /** `null`: the default. */
  readonly ttl_ms: number | null;
  readonly created_by: string;
}

/** A request to delegate a part. Terms that are left out are inherited. */
export interface DelegationRequest extends Partial<TaskTerms> {
  readonly agent_id: string;
  readonly ttl_ms: number | null;
  readonly created_by: string;
}

/** Why a task refuses a call. */
export type TaskCause =
  | 'unknown'
  | 'revoked'
  | 'expired'
  | 'not_yet_valid'
  | 'tenant'
  | 'agent'
  | 'user'
  | 'tools'
  | 'values'
  | 'sums'
  | 'calls';

export interface TaskFilter {
  readonly agent_ids?: readonly string[] | undefined;
  readonly tenant_ids?: readonly string[] | undefined;
  readonly status?: TaskStatus | undefined;
  readonly limit: number;
}

/** Why a task cannot be delegated: the request’s member that goes beyond the task. */
export interface WiderThanTask {
  readonly path: string;
  readonly message: string;
}

/** All tasks in one store. Every call rejects with `StoreFailure` without it. */
export interface Tasks {
  /** Creates a task; `null` if too many are active. @throws Unavailable if its event could not be written */
  readonly create: (request: NewTaskTerms) => Promise<TaskRecord | null>;
  /**
   * Creates a narrower task for another agent. Its calls count for both. @throws Unavailable as `create`
   * @returns the new task; why it is wider than its parent; or `null` if too many are active
   */
  readonly delegate: (
    parent: TaskRecord,
    request: DelegationRequest,
  ) => Promise<TaskRecord | WiderThanTask | null>;
  readonly find: (taskId: string) => Promise<TaskRecord | null>;
  /** The newest first. */
  readonly list: (filter: TaskFilter) => Promise<readonly TaskRecord[]>;
  /**
   * Ends a task, and with it those that it was delegated to. Every process refuses them afterwards. `null` if there is
   * no such task. @throws Unavailable if its event could not be written; the task has ended all the same
   */
  readonly revoke: (taskId: string, by: string) => Promise<TaskRecord | null>;
  readonly check: CheckTask;
  readonly findCostLimits: FindTaskCostLimits;
}
