import type { ReportedEvent } from './shape.ts';

/** Returns the names in an event that its program chose freely. */
export function listNames(event: ReportedEvent): string[] {
  const { agent_id, source_agent_id, destination_agent_id, session_id, tool_name, policy_name } = event;
  const { claimed_user, chain = [], task_id, trace_id } = event;
  const { monitored = [], declared_tags = [], session_tags = [] } = event.metadata;
  const names = [
    ...[agent_id, source_agent_id, destination_agent_id, session_id, tool_name, policy_name],
    ...[claimed_user, ...chain, task_id, trace_id],
  ];
  const lists = [...monitored, ...declared_tags, ...session_tags, ...(event.data_tags ?? [])];
  return [...names, ...lists].filter(
    (each) => each !== undefined && each !== null && each !== '',
  ) as string[];
}
