import type { VerifyReport } from '../../runtime/audit/verify-report.ts';
import type { ReportFile } from './build-pack.ts';
import type { PackSummary } from './make-pack.ts';
import type { EvidenceProgress, EvidenceWindow } from './types.ts';

/** Work on the whole audit log, which runs in a process of its own. One task of a kind runs at a time. */
export const TASK_KINDS = ['verify', 'pack'] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

export const TASK_STATES = ['running', 'done', 'failed', 'canceled'] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** A task, as its file in the state folder has it. */
export interface EvidenceTask {
  /** `task_` and 24 hex digits, which sort by time. */
  readonly task_id: string;
  readonly kind: TaskKind;
  readonly state: TaskState;
  /** The tenant of a pack; `null` for the whole service. */
  readonly tenant_id: string | null;
  readonly created_by: string;
  readonly created_ms: number;
  readonly ended_ms: number | null;
  readonly progress: EvidenceProgress;
  /** The result of a verification that ended. */
  readonly verification: VerifyReport | null;
  /** The pack that was made. */
  readonly pack: PackSummary | null;
  /** Why it failed, as a sentence. */
  readonly error: string | null;
}

/** The input of the process of a task: plain data. */
export interface TaskRequest
  extends Pick<EvidenceTask, 'task_id' | 'kind' | 'tenant_id' | 'created_by' | 'created_ms'> {
  readonly state_dir: string;
  readonly service_version: string;
  /** The policy that is active when the task begins, for its audit event. */
  readonly policy_hash: string;
  /** `null` for a verification. */
  readonly pack: {
    readonly window: EvidenceWindow;
    readonly framework: string | null;
    readonly report: readonly ReportFile[];
  } | null;
}

/** The first message of the process: it has begun, or another task of its kind is running. */
export type TaskStart = 'started' | 'busy' | 'failed';
