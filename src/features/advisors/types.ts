import type { ControlFinding } from '../../core/advisors/control-findings.ts';
import type { Policy } from '../../core/types/index.ts';
import type { FrameworkId } from '../../operations/compliance-frameworks.ts';
import type { EventWindow } from '../../runtime/audit/window-types.ts';

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
    /** Returns the controls of the compliance report as if a policy had been active during the whole window. */
    readonly findComplianceGaps: (request: FindingsRequest) => Promise<ComplianceFindings>;
  }
}
