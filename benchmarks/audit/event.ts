import type { AuditEvent } from '../../src/runtime/audit/types.ts';

/** Returns an event of an ordinary scan, about 750 bytes of JSON. One in ten has tags. */
export function buildEvent(index: number): AuditEvent {
  const found = index % 10 === 0;
  return {
    event_id: `evt_${index.toString(16).padStart(24, '0')}`,
    timestamp: new Date(1.78e12 + index * 3).toISOString(),
    boundary: 'input',
    decision: found ? 'modify' : 'allow',
    action: found ? 'redact' : 'allow',
    policy_name: found ? 'builtin.personal.input' : 'default.allow',
    reason: found ? 'Personal data was found and masked.' : 'No rule matched.',
    data_tags: found ? ['personal.pii.email'] : [],
    tenant_id: 'default',
    agent_id: `agent-${index % 20}`,
    tool_name: null,
    session_id: `session-${index >> 4}`,
    source_agent_id: null,
    destination_agent_id: null,
    caller_id: 'loopback',
    context_hash: `sha256:${'0123456789abcdef'.repeat(4)}`,
    policy_hash: `sha256:${'fedcba9876543210'.repeat(4)}`,
    coverage: 'full',
    metadata: { phase: 'request', endpoint: 'scan_input', text_bytes: 1_024, findings: found ? 1 : 0 },
  };
}
