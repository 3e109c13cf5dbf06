import type { GuardBackend } from './backend.ts';
import type { ServiceApi } from './service-api.ts';

/** The result of an advisor. Advisors see metadata only, and nothing that they propose takes effect by itself. */
export type AdvisorAnswer = ServiceApi['intelligence_recommend']['response'];

/** The outline of a project: names of its packages, frameworks, tools and agents, and no code. */
export type AdvisedProject = ServiceApi['intelligence_auto_config']['request']['project'];

/** A project to advise on: its outline, or a folder of the service's machine below its `scan.file_roots`. */
export interface AdvisedSubject {
  readonly project?: AdvisedProject;
  readonly path?: string;
}

/**
 * The advisors of a service. Each rejects with `AIBackendNotConfiguredError` if the service has no model back end, and
 * always on a local guard.
 */
export interface GuardIntelligence {
  /** Proposes a configuration for a project. */
  readonly autoConfig: (subject: AdvisedSubject) => Promise<AdvisorAnswer>;
  /** Proposes improvements of the policy from the audit log of a period before now, `7d` for example. */
  readonly recommend: (options?: { readonly since?: string }) => Promise<AdvisorAnswer>;
  /** Explains one audit event. */
  readonly explain: (eventId: string) => Promise<AdvisorAnswer>;
  /** Proposes a policy for a compliance framework: `hipaa`, `pci-dss`, `soc2`, `gdpr` and others. */
  readonly compliance: (framework: string) => Promise<AdvisorAnswer>;
  /** Proposes the code that connects a framework. */
  readonly integrate: (target: string, subject?: AdvisedSubject) => Promise<AdvisorAnswer>;
}

/** Returns the advisors of a back end. */
export function createIntelligence({ advise }: Pick<GuardBackend, 'advise'>): GuardIntelligence {
  return {
    autoConfig: (subject) => advise('auto_config', { ...subject }),
    recommend: (options = {}) => advise('recommend', { ...options }),
    explain: (eventId) => advise('explain', { event_id: eventId }),
    compliance: (framework) => advise('compliance', { framework }),
    integrate: (target, subject = {}) => advise('integrate', { target, ...subject }),
  };
}
