import type { ControlFinding } from '../core/advisors/control-findings.ts';
import type { ComplianceFindings, FindingsRequest } from '../features/advisors/types.ts';
import type { ComplianceReport, ControlReport } from '../features/compliance/report-types.ts';
import type { Runtime } from '../operations/runtime.ts';

/**
 * Builds the compliance report as if one policy had been active during the whole window, and returns its controls for an
 * advisor. The policies before it are left out, because a proposal cannot change them. Loaded on demand.
 */
export async function buildComplianceFindings(
  { framework, policy, with_evidence, ...window }: FindingsRequest,
  { auditWindow }: Pick<Runtime, 'auditWindow'>,
): Promise<ComplianceFindings> {
  const [{ loadFramework }, { buildComplianceReport }] = await Promise.all([
    import('../features/compliance/frameworks.ts'),
    import('../features/compliance/report.ts'),
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
  return { title, edition, controls: controls.map(describeControl) };
}

function describeControl(control: ControlReport): ControlFinding {
  const { control_id, title, requirement, contribution, status, elements, gaps, evidence } = control;
  return {
    ...{ control_id, title, requirement, contribution, status },
    rules: elements.filter(({ kind }) => kind === 'rule').map(({ name }) => name),
    mechanisms: elements
      .filter(({ kind }) => kind === 'mechanism')
      .map(({ name, states }) => `${name}: ${states.at(-1)?.state ?? 'inactive'}`),
    missing: gaps.filter(({ kind }) => kind !== 'framework').flatMap(({ message }) => dropTenants(message)),
    limits: gaps.filter(({ kind }) => kind === 'framework').map(({ message }) => message),
    evidence: evidence.counts.map(({ kind, name, events }) => ({ kind, name, events })),
  };
}

/** A sentence on a rule of one tenant says nothing about the others; a list of tenants is cut off. */
function dropTenants(message: string): readonly string[] {
  return message.includes(' of tenant ') ? [] : [message.split(/ Tenants?: /, 1).join()];
}
