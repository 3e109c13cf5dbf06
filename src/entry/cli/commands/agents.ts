import type { Command } from 'commander';
import { ask, type Which } from '../ask.ts';
import { configOption, examples, jsonOption } from '../options.ts';
import { say, sayJson, shown, type Terminal } from '../terminal.ts';

interface AgentOptions {
  readonly reason?: string;
  readonly config?: string;
  readonly json?: true;
}

interface Changed {
  readonly agent_id: string;
  readonly blocked: boolean;
  readonly changed: boolean;
}

interface Listed {
  readonly agents: readonly {
    readonly agent_id: string;
    readonly reason: string;
    readonly blocked_by: string;
    readonly blocked_at: string;
  }[];
}

export function agents(command: Command, terminal: Terminal): void {
  const block = command
    .command('block <agent_id>')
    .summary('block an agent everywhere, within a second')
    .description(
      'Block every check, tool call, model call and secret of an agent, in every worker, hook and replica, within a second. Upper and lower case are the same. Works with and without a running service. Written to the audit log.',
    )
    .option('--reason <text>', 'why, for other operators')
    .addOption(configOption())
    .addOption(jsonOption())
    .action((agent_id: string, options: AgentOptions) =>
      change((of) => of.agentsBlock, agent_id, options, terminal),
    );
  const unblock = command
    .command('unblock <agent_id>')
    .summary('unblock an agent')
    .addOption(configOption())
    .addOption(jsonOption())
    .action((agent_id: string, options: AgentOptions) =>
      change((of) => of.agentsUnblock, agent_id, options, terminal),
    );
  const list = command
    .command('list')
    .summary('list blocked agents')
    .addOption(configOption())
    .addOption(jsonOption())
    .action((options: AgentOptions) => listBlocked(options, terminal));
  examples(block, [['service agents block support-bot --reason "sends too much"', '']]);
  examples(unblock, [['service agents unblock support-bot', '']]);
  examples(list, [['service agents list', 'who is blocked, since when and by whom']]);
  examples(command, [
    ['service agents block support-bot', 'the kill switch'],
    ['service agents unblock support-bot', ''],
  ]);
}

async function change(
  which: Which,
  agent_id: string,
  { reason, config, json }: AgentOptions,
  terminal: Terminal,
): Promise<void> {
  const input = { agent_id, ...(reason !== undefined && { reason }) };
  const answer = (await ask(terminal, config, which, input)) as Changed;
  if (json) return sayJson(terminal, answer);
  const state = answer.blocked ? 'blocked' : 'not blocked';
  say(terminal, `${shown(agent_id)} is ${state}${answer.changed ? '.' : '; nothing changed.'}`);
}

async function listBlocked({ config, json }: AgentOptions, terminal: Terminal): Promise<void> {
  const answer = (await ask(terminal, config, (of) => of.agentsBlocked, {})) as Listed;
  if (json) return sayJson(terminal, answer);
  if (answer.agents.length === 0) return say(terminal, 'No agent is blocked.');
  for (const { agent_id, reason, blocked_by, blocked_at } of answer.agents)
    say(
      terminal,
      `${shown(agent_id)}  since ${blocked_at} by ${shown(blocked_by)}${reason === '' ? '' : `: ${shown(reason)}`}`,
    );
}
