import { Type } from '../../core/schema.ts';
import { activationOutput, awaitActivation } from '../../operations/cluster.ts';
import { type Context, defineOperation } from '../../operations/operation.ts';
import { PRINTABLE_TEXT } from '../../operations/shapes.ts';
import { dropBlankName } from '../../operations/subject.ts';
import { blockedAgents } from './tables.ts';

const agent = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: PRINTABLE_TEXT,
  description: 'The agent, in upper or lower case.',
});

const answered = Type.Object({
  agent_id: Type.String(),
  blocked: Type.Boolean({ description: 'Whether the agent is blocked now.' }),
  changed: Type.Boolean({ description: 'Whether this call changed that.' }),
  ...activationOutput,
});

interface BlockChange {
  readonly agent_id: string;
  readonly blocked: boolean;
  readonly changed: boolean;
}

function writeBlock({ agent_id, blocked, changed }: BlockChange): string {
  return `${agent_id} is ${blocked ? 'blocked' : 'not blocked'}${changed ? '.' : '; nothing changed.'}`;
}

export const agentsBlock = defineOperation({
  name: 'agents_block',
  summary: 'Block an agent',
  description:
    'The kill switch: within a second every check, tool call, model call and secret of the agent is blocked by the rule `agent.blocked`, in every worker, hook and replica on the same store. Is recorded in the audit log.',
  http: { method: 'POST', path: '/v1/agents/block' },
  cli: {
    verb: 'agents block',
    arguments: ['agent_id'],
    options: ['reason'],
    line: writeBlock,
    examples: [['customshouse agents block support-bot --reason "sends too much"', 'the kill switch']],
  },
  permission: 'agents:block',
  needs: 'store',
  input: Type.Object({
    agent_id: agent,
    reason: Type.Optional(Type.String({ maxLength: 500, description: 'Why; shown to operators only.' })),
  }),
  output: answered,
  example: { agent_id: 'support-bot', reason: 'sends too much' },
  answer: { agent_id: 'support-bot', blocked: true, changed: true },
  run: async ({ agent_id, reason }, context: Context) => {
    const { runtime, caller } = context;
    const blocks = await runtime.agentBlocks();
    const changed = await blocks.block(agent_id, dropBlankName(reason) ?? '', caller.id);
    return { agent_id, blocked: true, changed, ...(await awaitActivation(context)) };
  },
});

export const agentsBlocked = defineOperation({
  name: 'agents_blocked',
  summary: 'List blocked agents',
  description: 'The agents that the kill switch stops, by name.',
  http: { method: 'GET', path: '/v1/agents/blocked' },
  cli: {
    verb: 'agents list',
    columns: {
      rows: 'agents',
      cells: { AGENT: 'agent_id', SINCE: 'blocked_at', 'BLOCKED BY': 'blocked_by', REASON: 'reason' },
      empty: 'No agent is blocked.',
    },
    examples: [['customshouse agents list', 'blocked agents, since when and by whom']],
  },
  permission: 'audit:read',
  tenants: 'all',
  needs: 'store',
  input: Type.Object({}),
  output: Type.Object({
    agents: Type.Array(blockedAgents.schema),
    count: Type.Integer(),
  }),
  example: {},
  answer: { agents: [], count: 0 },
  run: async (_nothing, { runtime }: Context) => {
    const agents = await (await runtime.agentBlocks()).list();
    return { agents, count: agents.length };
  },
});

export const agentsUnblock = defineOperation({
  name: 'agents_unblock',
  summary: 'Unblock an agent',
  description:
    'Takes an agent from the list of those that the kill switch stops. Is recorded in the audit log.',
  http: { method: 'POST', path: '/v1/agents/unblock' },
  cli: {
    verb: 'agents unblock',
    arguments: ['agent_id'],
    line: writeBlock,
    examples: [['customshouse agents unblock support-bot', '']],
  },
  permission: 'agents:block',
  needs: 'store',
  input: Type.Object({ agent_id: agent }),
  output: answered,
  example: { agent_id: 'support-bot' },
  answer: { agent_id: 'support-bot', blocked: false, changed: false },
  run: async ({ agent_id }, context: Context) => {
    const { runtime, caller } = context;
    const blocks = await runtime.agentBlocks();
    const changed = await blocks.unblock(agent_id, caller.id);
    return { agent_id, blocked: false, changed, ...(await awaitActivation(context)) };
  },
});
