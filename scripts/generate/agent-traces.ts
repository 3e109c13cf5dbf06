import { codingAgents } from '../../src/coding-agents/coding-agents.ts';
import { dialects } from '../../src/coding-agents/index.ts';
import { otherAgentTraces } from '../../src/coding-agents/other-agents.ts';
import type { AgentTraces } from '../../src/coding-agents/record/traces.ts';

/** Returns the text of src/core/detect/agent-traces.ts: what `core` and `runtime` know of coding agents. */
export function renderAgentTracesModule(): string {
  const all = [...codingAgents.map(({ traces }) => traces), otherAgentTraces];
  const keys = Object.keys(otherAgentTraces) as (keyof AgentTraces)[];
  const lists = keys.map((key) => [key, [...new Set(all.flatMap((traces) => traces[key]))]] as const);
  const written = [['dialects', dialects.map(({ name }) => name)] as const, ...lists];
  const members = written.map(
    ([key, items]) => `  ${key}: [\n${items.map((item) => `    '${item}',\n`).join('')}  ],\n`,
  );
  return `// Written by \`npm run generate\` from the records in src/coding-agents.
// biome-ignore-all format: one entry per line keeps the changes small.
/** The names of all dialects, and the traces by which coding agents are recognized. */
export const AGENT_TRACES = {
${members.join('')}} as const;
`;
}
