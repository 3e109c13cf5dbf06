/** Small values that the tests of this layer share. */

import { DETECTION } from '../../core/testing/policies.ts';
import type { Policy, Rule } from '../../core/types/index.ts';
import type { Caller } from '../../runtime/access/types.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';

export { buildExampleCrossing } from './example-crossing.ts';

/** Concatenated, so that no secret scanner reports it as a real secret. */
export const SECRET = ['sk-', 'ABCDEF1234567890'].join('');
export const SSN = ['536', '22', '8412'].join('-');

export const caller: Caller = {
  id: 'loopback',
  kind: 'anonymous',
  permissions: ['check'],
  tenants: '*',
  agents: '*',
};

export function buildExampleRule(parts: Partial<Rule> & Pick<Rule, 'name' | 'data_tags' | 'action'>): Rule {
  return {
    boundaries: ['input'],
    phases: ['request', 'message'],
    tenant_id: null,
    tools: [],
    agents: [],
    session_tags: [],
    when: null,
    priority: 100,
    reason: `The rule ${parts.name} says so.`,
    severity_min: null,
    severity: null,
    fallback_template: null,
    enforcement: 'enforce',
    approval: { ttl_ms: 1_800_000, min_approvals: 1 },
    ...parts,
  };
}

/** Blocks secrets, masks personal data, and reports phone numbers without acting. */
export const policy: Policy = {
  hash: `sha256:${'a'.repeat(64)}`,
  default_action: 'block',
  rules: [
    buildExampleRule({ name: 'no-secrets', data_tags: ['secret'], action: 'block' }),
    buildExampleRule({
      name: 'watch-ssn',
      data_tags: ['personal.pii'],
      action: 'block',
      enforcement: 'monitor',
    }),
    buildExampleRule({ name: 'mask-personal', data_tags: ['personal'], action: 'redact' }),
  ],
  builtin_rules: [],
  taint_rules: [],
  contracts: [],
  identities: [],
  memory_schemas: [],
  undeclared_tools: 'allow',
  unknown_agents: 'allow',
  detection: DETECTION,
  limits: { text_bytes_max: 1_000, depth_max: 16, nodes_max: 1_000, findings_max: 100 },
  redaction: { typed: false },
};

/** Ports that store recorded events in `events` and number the event ids. */
export function buildExamplePorts(
  events: AuditEvent[],
  parts: Partial<EnforcementPorts> = {},
): EnforcementPorts {
  let count = 0;
  return {
    policy,
    now_ms: () => 0,
    new_event_id: () => `evt_${String(++count).padStart(24, '0')}`,
    record: async (event) => void events.push(event),
    ...parts,
  };
}
