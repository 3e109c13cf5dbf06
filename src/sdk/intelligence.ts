import type { GuardBackend } from './backend.ts';

/** The result of an advisor. Advisors see metadata only, and nothing that they propose takes effect by itself. */
export interface AdvisorAnswer extends Readonly<Record<string, unknown>> {
  readonly advisor_name?: string;
  readonly status?: string;
  readonly summary?: string;
  /** Proposed files, by path. */
  readonly artifacts?: Readonly<Record<string, string>>;
}

/**
 * The advisors of a service. Each rejects with `AIBackendNotConfiguredError` if the service has no model back end, and
 * always on a local guard.
 */
export interface GuardIntelligence {
  /** Proposes a configuration for a project. */
  readonly autoConfig: (options?: { readonly path?: string }) => Promise<AdvisorAnswer>;
  /** Proposes improvements of the policy from the audit log of the last time, `7d` for example. */
  readonly recommend: (options?: { readonly since?: string }) => Promise<AdvisorAnswer>;
  /** Explains one audit event. */
  readonly explain: (event_id: string) => Promise<AdvisorAnswer>;
  /** Proposes a policy for HIPAA, PCI-DSS, SOC2 or GDPR. */
  readonly compliance: (framework: string) => Promise<AdvisorAnswer>;
  /** Proposes the code that connects a framework. */
  readonly integrate: (target: string, options?: { readonly path?: string }) => Promise<AdvisorAnswer>;
}

/** Returns the advisors of a back end. */
export function createIntelligence({ advise }: Pick<GuardBackend, 'advise'>): GuardIntelligence {
  return {
    autoConfig: (options = {}) => advise('auto_config', { ...options }),
    recommend: (options = {}) => advise('recommend', { ...options }),
    explain: (event_id) => advise('explain', { event_id }),
    compliance: (framework) => advise('compliance', { framework }),
    integrate: (target, options = {}) => advise('integrate', { target, ...options }),
  };
}
