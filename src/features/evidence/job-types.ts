import type { ChainHead } from '../../runtime/audit/journal-record.ts';
import type { VerifyReport } from '../../runtime/audit/verify-report.ts';
import type { ReportFile } from './build-pack.ts';
import type { PackSummary } from './make-pack.ts';
import type { EvidenceProgress, EvidenceWindow } from './types.ts';

/** Work on the whole audit log, which runs in a separate process. One job of a kind runs at a time. */
export const JOB_KINDS = ['verify', 'pack'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export const JOB_STATES = ['running', 'done', 'failed', 'canceled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A job, as its file in the state folder has it. */
export interface EvidenceJob {
  /** `job_` and 24 hex digits, which sort by time. */
  readonly job_id: string;
  readonly kind: JobKind;
  readonly state: JobState;
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

/** The input of the process of a job: plain data. */
export interface JobRequest
  extends Pick<EvidenceJob, 'job_id' | 'kind' | 'tenant_id' | 'created_by' | 'created_ms'> {
  readonly state_dir: string;
  readonly service_version: string;
  /** The last indexed record of each chain, by writer, for a verification; `null` without an index. */
  readonly known_heads: readonly (readonly [writer: string, head: ChainHead])[] | null;
  /** The policy that is active when the job begins, for its audit event. */
  readonly policy_hash: string;
  /** `null` for a verification. */
  readonly pack: {
    readonly window: EvidenceWindow;
    readonly framework: string | null;
    readonly report: readonly ReportFile[];
  } | null;
}

/** The first message of the process: it has begun, or another job of its kind is running. */
export type JobStart = 'started' | 'busy' | 'failed';
