import type { ControlFinding } from '../../core/advisors/control-findings.ts';
import type { Policy } from '../../core/types/index.ts';
import type { FrameworkId } from '../../operations/compliance-frameworks.ts';
import type { ModelBackend } from '../../operations/model-backend.ts';
import type { EventWindow } from '../../runtime/audit/window-types.ts';
import type { Config } from '../../runtime/config/index.ts';

/** The advisory layer of a process. */
export interface AdvisoryLayer {
  readonly settings: Config['intelligence'];
  /** Opens the model on the first call. Rejects with a `ModelFailure` `no_backend` if the key is missing. */
  readonly backend: () => Promise<ModelBackend>;
}

/** A request for the deterministic compliance report of one policy. */
export interface FindingsRequest extends EventWindow {
  readonly framework: FrameworkId;
  readonly policy: Policy;
  /** Counts recorded decisions in the window; without it the audit log is not read. */
  readonly with_evidence: boolean;
}

/** The controls of a compliance report. */
export interface ComplianceFindings {
  readonly title: string;
  readonly edition: string;
  readonly controls: readonly ControlFinding[];
}

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** The model that advisors ask. */
    readonly advisors: AdvisoryLayer;
    /** Returns the controls of the compliance report as if a policy had been active during the whole window. */
    readonly findComplianceGaps: (request: FindingsRequest) => Promise<ComplianceFindings>;
  }
}
