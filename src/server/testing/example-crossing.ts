import type { Crossing } from '../../core/types/index.ts';

/** A text that crosses at the input. The module imports no detector, because the processes of races import it too. */
export function buildExampleCrossing(text: string, parts: Partial<Crossing> = {}): Crossing {
  return {
    boundary: 'input',
    phase: null,
    content: { kind: 'text', text },
    tenant_id: 'default',
    agent_id: 'agent-1',
    session_id: null,
    source_agent_id: null,
    destination_agent_id: null,
    tool: null,
    declared_tags: [],
    now_ms: Date.UTC(2026, 10, 21, 12),
    ...parts,
  };
}
