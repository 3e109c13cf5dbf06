import type { Command } from 'commander';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { explainNoEvents, findEventPage } from '../../operations/cli-kit/find-events.ts';
import { formatEventLine } from '../../operations/cli-kit/format-event.ts';
import { formatTable } from '../../operations/cli-kit/format-table.ts';
import {
  addExamples,
  buildConfigOption,
  buildJsonOption,
  parseWholeNumber,
} from '../../operations/cli-kit/options.ts';
import { printJson, printLine, type Terminal } from '../../operations/cli-kit/terminal.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { observeAgent, observeAgents } from './agent-operations.ts';
import { observeSession, observeSessions } from './session-operations.ts';

/** Defines `observe`. Its other subcommands are derived from the operations. */
export function defineObserve(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command.description(
    'Show the activity of agents from the audit log: all agents, the timeline of one, the trace of a session. Works with and without a running service. Ends with 0 if there is nothing to list.',
  );
  defineAgents(command, terminal, ports);
  defineSessions(command, terminal, ports);
  addExamples(command, [
    ['customshouse observe agents', 'agents of the last 24 hours'],
    ['customshouse observe sessions sess-1', 'the trace of a session'],
  ]);
}

interface ObserveOptions {
  readonly last: string;
  readonly limit: number;
  readonly tenant?: string;
  readonly session?: string;
  readonly config?: string;
  readonly json?: true;
}

function withWhich(command: Command): Command {
  return command
    .option('--last <duration>', 'how far back: 15m, 24h, 7d', '24h')
    .option('--limit <count>', 'maximum number', parseWholeNumber(1, 1_000), 100)
    .option('--tenant <id>', 'one tenant')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption());
}

function defineAgents(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const agents = withWhich(
    command.command('agents [agent_id]').summary('list agents, or show the activity of one'),
  )
    .description('List the active agents, or show the activity of one, oldest first.')
    .action((agentId: string | undefined, options: ObserveOptions) =>
      agentId === undefined
        ? listAgents(options, terminal, ports)
        : showAgent(agentId, options, terminal, ports),
    );
  addExamples(agents, [
    ['customshouse observe agents --last 7d', 'agents of this week'],
    ['customshouse observe agents support-bot --limit 20', 'the latest activity of one agent'],
    ['customshouse observe agents --json | jq -r .agents[].agent_id', 'for a script'],
  ]);
}

function defineSessions(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const sessions = withWhich(
    command.command('sessions [session_id]').summary('list sessions, or show the trace of one'),
  )
    .description(
      'List the active sessions, or show the activity in one, oldest first: tool calls, decisions, tags, approval requests. --last applies to the list.',
    )
    .option('--session <id>', 'the same as the argument')
    .action((sessionId: string | undefined, options: ObserveOptions) => {
      const named = sessionId ?? options.session;
      return named === undefined
        ? listSessions(options, terminal, ports)
        : showSession(named, options, terminal, ports);
    });
  addExamples(sessions, [
    ['customshouse observe sessions', 'of the last day'],
    ['customshouse observe sessions sess-1', 'the trace of one'],
  ]);
}

function getWhich({ last, limit, tenant }: ObserveOptions): Record<string, unknown> {
  return { last, limit, ...(tenant !== undefined && { tenant_id: tenant }) };
}

interface AgentActivity {
  readonly event_count: number;
  readonly block_count: number;
  readonly last_seen: string;
}

async function listAgents(options: ObserveOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const answer = await ports.runOperation(terminal, options.config, observeAgents, getWhich(options));
  const rows = answer.agents.map((one) => [one.agent_id, ...formatActivity(one)]);
  if (options.json) printJson(terminal, answer);
  else await printRows(['AGENT', ...SEEN], rows, options, terminal, ports);
}

async function listSessions(options: ObserveOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const answer = await ports.runOperation(terminal, options.config, observeSessions, getWhich(options));
  const rows = answer.sessions.map((one) => [
    one.session_id,
    one.tenant_id,
    one.agent_ids.join(', '),
    ...formatActivity(one),
  ]);
  if (options.json) printJson(terminal, answer);
  else await printRows(['SESSION', 'TENANT', 'AGENTS', ...SEEN], rows, options, terminal, ports);
}

const SEEN = ['EVENTS', 'BLOCKED', 'LAST SEEN'];

function formatActivity({ event_count, block_count, last_seen }: AgentActivity): string[] {
  return [String(event_count), String(block_count), last_seen];
}

async function printRows(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  options: ObserveOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  const lines =
    rows.length === 0 ? [await explainEmpty({}, options, terminal, ports)] : formatTable(head, rows);
  for (const line of lines) printLine(terminal, line);
}

/** Reports an empty answer like `logs` does, with the folder and the number of events that were searched. */
async function explainEmpty(
  about: { readonly agent_id?: string; readonly session_id?: string },
  { config, last, tenant }: ObserveOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<string> {
  // The trace of a session has no time range.
  const range = about.session_id === undefined ? { last } : {};
  const filter = { ...about, ...range, ...(tenant !== undefined && { tenant_id: tenant }), limit: 1 };
  const { events_searched } = await findEventPage(terminal, config, filter, ports);
  return explainNoEvents(
    { ...range, ...(config !== undefined && { config }) },
    terminal,
    ports,
    events_searched,
  );
}

async function showAgent(
  agentId: string,
  options: ObserveOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  const input = { agent_id: agentId, ...getWhich(options) };
  const answer = await ports.runOperation(terminal, options.config, observeAgent, input);
  await printAnswer(answer, { agent_id: agentId }, options, terminal, ports);
}

async function showSession(
  sessionId: string,
  options: ObserveOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  const { last: _last, ...which } = getWhich(options);
  const answer = await ports.runOperation(terminal, options.config, observeSession, {
    session_id: sessionId,
    ...which,
  });
  await printAnswer(answer, { session_id: sessionId }, options, terminal, ports);
}

async function printAnswer(
  answer: { readonly events: readonly AuditEvent[] },
  about: Parameters<typeof explainEmpty>[0],
  options: ObserveOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  const { events } = answer;
  if (options.json) printJson(terminal, answer);
  else if (events.length === 0) printLine(terminal, await explainEmpty(about, options, terminal, ports));
  else for (const event of events) printLine(terminal, formatEventLine(event, terminal));
}
