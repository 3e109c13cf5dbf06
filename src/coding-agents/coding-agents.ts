import { codingAgentRecords } from './index.ts';
import type { CodingAgent } from './record/coding-agent.ts';

/** Every coding agent with all of its parts, by name. The hook uses only the records, because each module costs start time. */
export const codingAgents: readonly CodingAgent[] = await Promise.all(
  codingAgentRecords.map(async ({ name, label, dialect, load }) => ({
    name,
    label,
    dialect,
    ...(await load()),
  })),
);
