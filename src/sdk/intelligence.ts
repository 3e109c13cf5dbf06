import type { GuardBackend } from './backend.ts';
import type { ServiceApi } from './service-api.ts';

/** The result of an advisor. Advisors see metadata only, and nothing that they propose takes effect by itself. */
export type AdvisorAnswer = ServiceApi['intelligence_recommend']['response'];

/** The outline of a project: names of its packages, frameworks, tools and agents, and no code. */
export type AdvisedProject = ServiceApi['intelligence_auto_config']['request']['project'];

/**
 * The advisors of a service. Each rejects with `AIBackendNotConfiguredError` if the service has no model back end, and
 * always on a local guard.
 */
export interface GuardIntelligence {
  /** Proposes a configuration for a project. */
  readonly autoConfig: (project?: AdvisedProject) => Promise<AdvisorAnswer>;
  /** Proposes improvements of the policy from the audit log of the last time, `7d` for example. */
  readonly recommend: (options?: { readonly since?: string }) => Promise<AdvisorAnswer>;
  /** Explains one audit event. */
  readonly explain: (event_id: string) => Promise<AdvisorAnswer>;
  /** Proposes a policy for HIPAA, PCI-DSS, SOC2 or GDPR. */
  readonly compliance: (framework: string) => Promise<AdvisorAnswer>;
  /** Proposes the code that connects a framework. */
  readonly integrate: (target: string, project?: AdvisedProject) => Promise<AdvisorAnswer>;
}

/** Returns the advisors of a back end. */
export function createIntelligence({ advise }: Pick<GuardBackend, 'advise'>): GuardIntelligence {
  const ask = (...call: Parameters<typeof advise>) => advise(...call) as unknown as Promise<AdvisorAnswer>;
  return {
    autoConfig: (project = {}) => ask('auto_config', { project }),
    recommend: (options = {}) => ask('recommend', { ...options }),
    explain: (event_id) => ask('explain', { event_id }),
    compliance: (framework) => ask('compliance', { framework }),
    integrate: (target, project) => ask('integrate', { target, ...(project && { project }) }),
  };
}
