import type { Classification, Crossing, Fingerprinter, Verdict } from '../../core/types/index.ts';
import type { AuditPorts } from '../audit/service-event.ts';
import type { AuditEvent } from '../audit/types.ts';
import type { Classifiers } from '../classifiers/types.ts';
import type { Fence } from '../cluster/fence.ts';
import type { Endpoint } from '../observability/endpoint.ts';
import type { Telemetry } from '../observability/telemetry/types.ts';
import type { FingerprintSealer } from '../policies/fingerprints.ts';
import type { FindAgentBlock } from './agent-list.ts';
import type { ApprovalResolution, ResolveApproval } from './approval.ts';
import type { LoggedTexts } from './logged-texts.ts';
import type { SessionPorts } from './sessions/types.ts';
import type { CheckTask, FindTaskCostLimits } from './task.ts';

/** The result of `enforce`: the verdict with all that the decision found out, under the id of its event. */
export interface Ruling extends ApprovalResolution {
  /** The crossing with the taint tags and call counts of its session. A tool name with findings is replaced. */
  readonly crossing: Crossing;
  /** Answers from classifiers; absent if none was called. */
  readonly classification?: Classification;
  readonly event_id: string;
  /** The next steps for the reader of a denial, after the reason; `null` if nothing is denied. */
  readonly help: string | null;
  /** The time of `judge` in milliseconds, rounded. */
  readonly scan_duration_ms: number;
}

/** The members of a ruling before its event is written. No part of it may leave the process. */
export type UnrecordedRuling = Omit<Ruling, 'event_id' | 'help' | 'scan_duration_ms'>;

/** The dependencies of `enforce`. The service, the hook and the tests each provide their own. */
export interface EnforcementPorts extends AuditPorts {
  /** Computes keyed fingerprints; without it no value is allowlisted by one. */
  readonly fingerprintOf?: Fingerprinter | null;
  /** Seals the fingerprints of found values for the events of blocked and modified crossings; without it they hold none. */
  readonly sealFingerprint?: FingerprintSealer | null;
  /** Which redacted texts the audit log contains; without it, none. */
  readonly logged_texts?: LoggedTexts;
  /** Resolves verdicts that require approval; without it they stay blocks. Must not reject. */
  readonly resolveApproval?: ResolveApproval | undefined;
  /** Checks the tasks that calls name; without it none is known. Rejects for an internal fault only. */
  readonly checkTask?: CheckTask | undefined;
  /** Finds the limits on costs of model calls that name a task; without it none is known. */
  readonly findTaskCostLimits?: FindTaskCostLimits | undefined;
  /** The classifiers of the operator; absent if none is configured. */
  readonly classifiers?: Classifiers;
  /** Finds agents that an operator has blocked; without it none is. */
  readonly findAgentBlock?: FindAgentBlock;
  /** The membership in a cluster; absent without one. */
  readonly fence?: Pick<Fence, 'findFenced' | 'policyRevision'>;
  /** Receives every ruling and the time of `judge` in seconds. Must not throw. */
  readonly onRuling?: (ruling: Ruling, endpoint: Endpoint, scanSeconds: number) => void;
  /** Receives every ruling for OpenTelemetry; `null` or absent if telemetry is off. */
  readonly telemetry?: Pick<Telemetry, 'recordCheck'> | null;
  /** Stores sessions and counts calls; without it everything that depends on them is blocked. */
  readonly sessions?: SessionPorts;
  /** Receives the cause if a session cannot be read or saved. Must not throw. */
  readonly onSessionFault?: (fault: unknown) => void;
  /** Receives the cause if an event cannot be recorded. Must not throw. */
  readonly onRecordFault?: (fault: unknown) => void;
}

/** Options of one decision. */
export interface EnforcementExtras {
  /** Returns additional metadata of the event: fixed values, or names without findings. */
  readonly buildMetadata?: (verdict: Verdict) => AuditEvent['metadata'];
  /** If true, an approved request for exactly this crossing counts when the caller names no request that matches. */
  readonly reuse_approval?: boolean;
  /**
   * The decision belongs to a self-test of an operator. Its event is marked and counts nowhere, and no approval is
   * requested.
   */
  readonly self_test?: true;
  /** The label `user` counts only in a session that a coding agent has opened. */
  readonly requires_opened_session?: true;
  /** Replaces the tool name in everything that is recorded, if the name itself has findings. */
  readonly recorded_tool?: string;
}
