import type { Command } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import { printJson, printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { runSelectedOperation } from '../run-operation.ts';

export function defineSessions(command: Command, terminal: Terminal): void {
  const reset = command
    .command('reset [session_id]')
    .summary('clear the taint tags of a session')
    .description(
      'Clear the taint tags of a session in the running service. Without a session ID, clear those of the agent outside of sessions. The change is recorded in the audit log.',
    )
    .option('--agent <id>', 'the agent (default: all agents in the session)')
    .option('--tenant <id>', 'whose session it is')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((sessionId: string | undefined, options: ResetOptions) =>
      resetSession(sessionId, options, terminal),
    );
  addExamples(reset, [
    ['customshouse sessions reset sess-1', 'of all agents in it'],
    ['customshouse sessions reset sess-1 --agent planner', 'of one'],
    ['customshouse sessions reset --agent planner', 'its calls without a session ID'],
  ]);
  addExamples(command, [['customshouse sessions reset sess-1', 'after a review']]);
}

interface ResetOptions {
  readonly agent?: string;
  readonly tenant?: string;
  readonly config?: string;
  readonly json?: true;
}

async function resetSession(
  sessionId: string | undefined,
  { agent, tenant, config, json }: ResetOptions,
  terminal: Terminal,
): Promise<void> {
  if (sessionId === undefined && agent === undefined)
    throw new CommandFailure(EXIT.usage, 'missing_argument', 'Name a session, or an agent with --agent.');
  const about = tenant === undefined ? {} : { tenant_id: tenant };
  const answer =
    sessionId === undefined
      ? await runSelectedOperation(terminal, config, (of) => of.agentSessionReset, {
          agent_id: agent!,
          ...about,
        })
      : await runSelectedOperation(terminal, config, (of) => of.sessionReset, {
          session_id: sessionId,
          ...(agent !== undefined && { agent_id: agent }),
          ...about,
        });
  if (json) printJson(terminal, answer);
  else if (answer.sessions === 0) printLine(terminal, 'No taint tags to clear.');
  else printLine(terminal, `Cleared for ${formatCount(answer.sessions, 'agent')}.`);
}
