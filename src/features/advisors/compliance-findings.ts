import type { ControlFinding } from '../../core/advisors/control-findings.ts';
import type { Policy } from '../../core/types/index.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { ComplianceReport, ControlReport } from '../compliance/report-types.ts';
import type { ComplianceFindings, FindingsRequest } from './types.ts';

/**
 * Builds the compliance report as if one policy had been active during the whole window, and returns its controls for an
 * advisor. The policies before it are left out, because a proposal cannot change them. Loaded on demand.
 */
export async function buildComplianceFindings(
  { framework, policy, with_evidence, ...window }: FindingsRequest,
  { auditWindow }: Pick<Runtime, 'auditWindow'>,
): Promise<ComplianceFindings> {
  const [{ loadFramework }, { buildComplianceReport }] = await Promise.all([
    import('../compliance/frameworks.ts'),
    import('../compliance/report.ts'),
  ]);
  const { since_ms, until_ms } = window;
  const interval = { policy_hash: policy.hash, from_ms: since_ms, to_ms: until_ms };
  const mapping = loadFramework(framework);
  const report = await buildComplianceReport(
    { ...window, last: null, framework: mapping },
    {
      policyOf: async () => policy,
      // The IDs of sample events are no metadata that an advisor sends.
      queryAudit: async () => ({ events: [], count: 0, events_searched: 0 }),
      auditWindow: {
        ...auditWindow,
        ...(!with_evidence && { countFields: async () => ({}) }),
        listPolicyIntervals: async () => [interval],
        listApprovalHistories: async () => [],
        listChainStates: async () => [],
        findOldestEvent: async () => null,
      },
    },
  );
  const { title, edition, controls } = report satisfies ComplianceReport;
  return { title, edition, controls: controls.map((control) => describeControl(control, policy)) };
}

/** Leaves out the rules of single tenants, and every sentence about one: they are nothing to tell a model. */
function describeControl(control: ControlReport, policy: Policy): ControlFinding {
  const tenantRules = new Set(
    policy.rules.filter(({ tenant_id }) => tenant_id !== null).map(({ name }) => name),
  );
  const { control_id, title, requirement, contribution, status, elements, gaps, evidence } = control;
  return {
    ...{ control_id, title, requirement, contribution, status },
    rules: elements
      .filter(({ kind, name }) => kind === 'rule' && !tenantRules.has(name))
      .map(({ name }) => name),
    mechanisms: elements
      .filter(({ kind }) => kind === 'mechanism')
      .map(({ name, states }) => `${name}: ${states.at(-1)?.state ?? 'inactive'}`),
    missing: gaps
      .filter(({ kind, tenant_id }) => kind !== 'framework' && tenant_id === null)
      .map(({ message }) => message),
    limits: gaps.filter(({ kind }) => kind === 'framework').map(({ message }) => message),
    evidence: evidence.counts
      .filter(({ kind, name }) => kind !== 'rule' || !tenantRules.has(name))
      .map(({ kind, name, events }) => ({ kind, name, events })),
  };
}
