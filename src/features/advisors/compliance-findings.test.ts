import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import type { Policy } from '../../core/types/index.ts';
import { buildComplianceFindings } from './compliance-findings.ts';

const TENANTS = ['zebra-clinic', 'quagga-clinic', 'okapi-clinic'];

const countFields = async () => ({
  rule: ['builtin.personal.input', 'of-zebra-clinic-flag'].map((value) => ({
    ...{ value, decision: 'allow', action: 'flag', count: 3, first_ms: 1, last_ms: 2 },
  })),
});
/** The rest of the window is replaced by that of one policy. */
const auditWindow = {
  countFields,
  listPolicyIntervals: async () => [],
  listApprovalHistories: async () => [],
  listChainStates: async () => [],
  findOldestEvent: async () => null,
};

/** Each tenant has its own rules, which are in monitor mode, only record, or allow. */
function buildTenantPolicy(): Policy {
  const policy = buildTestPolicy();
  const model = policy.builtin_rules.find(({ name }) => name.startsWith('builtin.personal'))!;
  const own = TENANTS.flatMap((tenantId) =>
    (['flag', 'allow', 'block'] as const).map((action) => ({
      ...model,
      tenant_id: tenantId,
      name: `of-${tenantId}-${action}`,
      boundaries: ['input', 'output', 'action'] as const,
      data_tags: ['personal.phi', 'personal.pii', 'secret.credential'],
      action,
      enforcement: action === 'block' ? ('monitor' as const) : ('enforce' as const),
    })),
  );
  return { ...policy, rules: own };
}

test('nothing of a tenant or its rules reaches an advisor', async () => {
  const policy = buildTenantPolicy();
  const window = { since_ms: 0, until_ms: 86_400_000, agents: '*' as const, policy };
  let missing = 0;
  for (const framework of ['hipaa', 'gdpr', 'soc2'] as const)
    for (const tenants of [TENANTS, TENANTS.slice(0, 1), '*' as const])
      for (const withEvidence of [true, false]) {
        const found = await buildComplianceFindings(
          { ...window, framework, tenants, with_evidence: withEvidence },
          { auditWindow },
        );
        const text = JSON.stringify(found);
        for (const word of ['zebra', 'quagga', 'okapi', 'clinic']) assert.ok(!text.includes(word), text);
        missing += found.controls.flatMap((control) => control.missing).length;
      }
  assert.ok(missing > 0, 'gaps of all tenants are listed');
});
