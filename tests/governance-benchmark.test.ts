/** The governance benchmark on our own scenario: assertions hold or fail by what the service decided. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideAssertion } from '../benchmarks/governance/assertions.ts';
import { playScenario } from '../benchmarks/governance/play.ts';
import type { Assertion } from '../benchmarks/governance/scenarios.ts';

const HOLDING: readonly Assertion[] = [
  { kind: 'tool_allowed', params: { tool: 'lookup', as_user: 'ann' } },
  { kind: 'tool_denied', params: { tool: 'lookup', as_user: '' } },
  { kind: 'tool_denied', params: { tool: 'remove', agent_tier: 'background' } },
  { kind: 'audit_attribution', params: { tool: 'lookup', actor_uid: 'ann' } },
  { kind: 'audit_field_present', params: { tool: 'remove', fields: ['decision', 'reason', 'extra'] } },
  { kind: 'no_cross_tenant_leak', params: { allowed_pairs: [pair('lookup'), pair('remove')] } },
  { kind: 'gateway_reachable', params: { reachable: true } },
  { kind: 'runner_errors_empty', params: {} },
];
const FAILING: readonly Assertion[] = [
  { kind: 'tool_denied', params: { tool: 'lookup', as_user: 'ann' } },
  { kind: 'tool_allowed', params: { tool: 'lookup', as_user: 'someone' } },
  { kind: 'audit_attribution', params: { tool: 'lookup', actor_uid: 'bob' } },
  { kind: 'audit_has_entry', params: { tool: 'lookup', decision: 'deny' } },
  { kind: 'rate_limited_count', params: { filter: { tool: 'lookup' }, max_allowed: 0 } },
  { kind: 'no_cross_tenant_leak', params: { allowed_pairs: [pair('lookup')] } },
];

function pair(tool: string) {
  return { tenant: 'acme', tool };
}

test('the governance benchmark judges what the service decided', async () => {
  const call = { input: {}, as_tenant: 'acme' };
  const played = await playScenario({
    id: 'own',
    setup: {
      tenants: [
        {
          id: 'acme',
          users: [{ uid: 'ann', scopes: [] }],
          policy: { defaults: { background: { permission: 'deny' } } },
        },
      ],
      tools: [{ name: 'lookup' }, { name: 'remove' }],
    },
    actions: [
      { direct_tool_call: { ...call, as_user: 'ann', tool: 'lookup' } },
      { direct_tool_call: { ...call, as_user: '', tool: 'lookup' } },
      { direct_tool_call: { ...call, as_user: 'ann', tool: 'remove', agent_tier: 'background' } },
    ],
    expected: [],
  });
  const decide = (assertion: Assertion) => [assertion.kind, decideAssertion(assertion, played).holds];
  assert.deepEqual(
    HOLDING.map(decide),
    HOLDING.map(({ kind }) => [kind, true]),
  );
  assert.deepEqual(
    FAILING.map(decide),
    FAILING.map(({ kind }) => [kind, false]),
  );
});
